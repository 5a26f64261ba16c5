// What is known of a move of a tree: nothing, there is a stone, or how it ends for certain?
// Twin: reference_py/games/havannah/moves.py.
//
// No local memory, no barriers. Macros: none of its own.
#ifndef GAMES_HAVANNAH_MOVES_CL
#define GAMES_HAVANNAH_MOVES_CL

#include "games/havannah/board.cl"

#define OPEN_MOVE 0
#define TAKEN 1
#define WINS 2
#define LOSES 3
#define TIES 4

#endif
