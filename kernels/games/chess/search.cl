// Chess for a search: which moves has a position, what is it worth, which position follows?
// Twin: reference_py/games/chess/search.py.
//
// A position is fifteen words: two for each of the seven sets, the lower half first, and the colour
// of the side to move. With LEGAL the tree has the legal moves, otherwise those of the published
// original. No local memory, no barriers. Macros: LEGAL.
#ifndef GAMES_CHESS_SEARCH_CL
#define GAMES_CHESS_SEARCH_CL

#include "games/chess/evaluation.cl"

#define GAME_PARAMETERS
#define GAME_ARGUMENTS

#define BLACK 1u
#define SIDE (2u * SETS)  // the word of the side to move
#define MATE 100000000

// One of the sets of a position.
static ulong set_of(__global const uint *words, const uint i)
{
    return (ulong)words[2u * i] | ((ulong)words[2u * i + 1u] << 32);
}

static position_t position_of(__global const uint *words)
{
    position_t found;
    found.own = set_of(words, 0u);
    found.other = set_of(words, 1u);
    found.pawns = set_of(words, 2u);
    found.knights = set_of(words, 3u);
    found.diagonals = set_of(words, 4u);
    found.orthogonals = set_of(words, 5u);
    found.special = set_of(words, 6u);
    return found;
}

static void put_set(__global uint *words, const uint i, const ulong squares)
{
    words[2u * i] = (uint)squares;
    words[2u * i + 1u] = (uint)(squares >> 32);
}

static void put_words(__global uint *words, const position_t position, const uint side)
{
    put_set(words, 0u, position.own);
    put_set(words, 1u, position.other);
    put_set(words, 2u, position.pawns);
    put_set(words, 3u, position.knights);
    put_set(words, 4u, position.diagonals);
    put_set(words, 5u, position.orthogonals);
    put_set(words, 6u, position.special);
    words[SIDE] = side;
}

// Whether a move is ordered before the others.
static bool comes_first(const position_t at, const ulong start, const ulong end)
{
    return ((start & at.pawns) | (end & (at.other | CENTRE))) != 0ul;
}

static uint coded(const move_t move)
{
    return number_of(move.start) | (number_of(move.end) << 6) | (move.promotion << 12);
}

static move_t decoded(const uint code)
{
    move_t move;
    move.start = 1ul << (code & 63u);
    move.end = 1ul << ((code >> 6) & 63u);
    move.promotion = code >> 12;
    return move;
}

#if LEGAL

// List the moves of a position in their order: those that come first, and then the others.
static uint branch(__global const uint *words, __global uint *moves_of)
{
    const position_t at = position_of(words);
    const limits_t limits = limits_of(at);
    uint count = 0u;
    for (uint round = 0; round < 2u; ++round) {
        moves_t all = moves(at);
        while (next_move(at, limits, &all))
            if (comes_first(at, all.move.start, all.move.end) == (round == 0u))
                moves_of[count++] = coded(all.move);
    }
    return count;
}

// What a position is worth: mated, stalemate, or its evaluation.
static int evaluate(__global const uint *words, const uint ply)
{
    const position_t at = position_of(words);
    if (count_moves(at) > 0u) return worth(at);
    return in_check(at) ? (int)ply - MATE : 0;
}

#else

// Where the moves of a position are listed, and which of them: those that come first or the others.
typedef struct {
    __global uint *moves;
    uint count;
    bool first;
} list_t;

static void list(const position_t at, const ulong start, const ulong end, list_t *found)
{
    if (comes_first(at, start, end) != found->first) return;
    const bool last = (start & at.pawns) && (end & RANK_8);
    move_t move;
    move.start = start;
    move.end = end;
    move.promotion = last ? QUEEN : 0u;
    found->moves[found->count++] = coded(move);
}

// The square `file` files and `rank` ranks away; none beyond the edge.
static ulong stepped(const ulong square, const int file, const int rank)
{
    const int number = (int)number_of(square), to = (number & 7) + file, up = (number >> 3) + rank;
    return to < 0 || to > 7 || up < 0 || up > 7 ? 0ul : 1ul << (uint)(8 * up + to);
}

// Steps of a king, of which rooks have the first four and bishops the others, and of a knight, in
// files and ranks as White sees them, in the order of the published original's moves.
__constant char KING_FILES[8] = {1, -1, 0, 0, 1, 1, -1, -1};
__constant char KING_RANKS[8] = {0, 0, 1, -1, 1, -1, 1, -1};
__constant char KNIGHT_FILES[8] = {1, 2, -1, -2, 1, 2, -1, -2};
__constant char KNIGHT_RANKS[8] = {2, 1, 2, 1, -2, -1, -2, -1};

// List the moves of the piece on a square.
static void list_piece(const position_t at, const ulong square, const int up, list_t *found)
{
    const ulong empty = ~(at.own | at.other);
    if (square & at.pawns) {
        const ulong right = (square << 9) & NOT_A & at.other, left = (square << 7) & NOT_H;
        const ulong one = (square << 8) & empty, two = ((one & RANK_3) << 8) & empty;
        if (right) list(at, square, right, found);
        if (left & at.other) list(at, square, left, found);
        if (one) list(at, square, one, found);
        if (two) list(at, square, two, found);
        return;
    }
    const bool knight = (square & at.knights) != 0ul;
    const bool king = !(square & (at.knights | at.diagonals | at.orthogonals));
    const uint first = !king && !knight && !(square & at.orthogonals) ? 4u : 0u;
    const uint last = !king && !knight && !(square & at.diagonals) ? 4u : 8u;
    for (uint i = first; i < last; ++i) {
        const int file = knight ? KNIGHT_FILES[i] : KING_FILES[i];
        const int rank = up * (knight ? KNIGHT_RANKS[i] : KING_RANKS[i]);
        ulong end = stepped(square, file, rank);
        while (end & ~at.own) {
            list(at, square, end, found);
            end = king || knight || (end & at.other) ? 0ul : stepped(end, file, rank);
        }
    }
}

// List the moves of a position in their order: those that come first, and then the others.
static uint branch(__global const uint *words, __global uint *moves)
{
    const position_t at = position_of(words);
    const bool black = words[SIDE] == BLACK;
    list_t found;
    found.moves = moves;
    found.count = 0u;
    for (uint round = 0; round < 2u; ++round) {
        found.first = round == 0u;
        for (uint i = 0; i < 64u; ++i) {
            const ulong square = 1ul << (black ? i ^ 56u : i);  // as White goes through the board
            if (square & at.own) list_piece(at, square, black ? -1 : 1, &found);
        }
    }
    return found.count;
}

static int evaluate(__global const uint *words, const uint ply)
{
    return worth(position_of(words));
}

#endif

// The position after a move.
static void make(__global const uint *words, const uint move, __global uint *child)
{
    position_t after = play(position_of(words), decoded(move));
    if (!LEGAL) after.special = 0ul;
    put_words(child, after, 1u - words[SIDE]);
}

#include "games/ngtsg/branch.cl"
#include "games/ngtsg/evaluate.cl"
#include "games/ngtsg/make.cl"

#endif
