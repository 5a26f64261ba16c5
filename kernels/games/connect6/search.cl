// Connect6 for a search: its three functions.
// Twin: reference_py/games/connect6/search.py.
//
// A position has two sets of points, twelve words each: those of the side to move, then the
// other's. All three functions are handed the table of classes.
#ifndef GAMES_CONNECT6_SEARCH_CL
#define GAMES_CONNECT6_SEARCH_CL

#define GAME_PARAMETERS , __global const uchar *classes
#define GAME_ARGUMENTS , classes

// A CPU takes one work-item after the other, so one of them lists the turns of a position.
#define TOGETHER (!DEVICE_IS_CPU)

#include "games/connect6/evaluate.cl"
#include "games/connect6/make.cl"
#include "games/connect6/moves.cl"
#if TOGETHER
#include "games/connect6/together.cl"
#include "games/connect6/weigh.cl"
#endif
#include "games/ngtsg/branch.cl"
#include "games/ngtsg/evaluate.cl"
#include "games/ngtsg/make.cl"

#endif
