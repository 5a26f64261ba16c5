// Which boards follow those of a level? All moves of all of them, in order, level after level.
// Twin: reference_py/games/kalah/expand.py.
//
// Three launches. Where the boards that follow one begin is the running sum of how many follow
// those before it (wide.cl): in blocks of WIDE_BLOCK, then over blocks; then they are made.
#include "games/kalah/search.cl"
#include "primitives/wide.cl"

// How many boards follow one: as many as its mover has pits with stones, none once it is over.
static uint move_count(const view_t board)
{
    uint count = 0u;
    for (uint i = 0; i < PITS; ++i) count += STONES(board.own, i) > 0u ? 1u : 0u;
    return is_over(board) ? 0u : count;
}

// A workgroup is a block of boards, a work-item every n-th of them. Local memory: of wide.cl.
__kernel void count_moves(__global const uchar *boards, __global const uchar *movers,
                          __global const uint *counts, __global uint *first, __global uint *sums,
                          const uint board_count, const uint blocks, const uint level,
                          const uint parents, const uint skip, const uint most,
                          const uint first_group)
{
    const size_t game = GAME(most, WIDE_BLOCK);
    const uint block = PART_OF_GAME(most, WIDE_BLOCK), begin = block * WIDE_BLOCK;
    const uint n = batch(counts[game * LEVELS + level], skip, most);
    const uint here = begin < n ? min(n - begin, WIDE_BLOCK) : 0u;
    const size_t at = game * board_count + parents + skip + begin;
    for (uint i = get_local_id(0); i < here; i += get_local_size(0))
        first[at + i] = move_count(view_of(boards + (at + i) * CELLS, movers[at + i]));
    barrier(CLK_GLOBAL_MEM_FENCE);  // numbers of moves, before they are added up
    const uint sum = wide_scan_exclusive(first + at, here);
    if (get_local_id(0) == 0) sums[game * blocks + block] = sum;
}

// A workgroup is a game, a work-item every n-th of its blocks. Local memory: of wide.cl.
__kernel void count_children(__global uint *sums, __global uint *counts, const uint blocks,
                             const uint level, const uint skip, const uint most)
{
    const size_t game = get_group_id(0);
    const uint n = batch(counts[game * LEVELS + level], skip, most);
    const uint used = n / WIDE_BLOCK + (n % WIDE_BLOCK > 0u ? 1u : 0u);
    const uint all = wide_scan_exclusive(sums + game * blocks, used);
    if (get_local_id(0) == 0) counts[game * LEVELS + level + 1u] = all;
}

// Place what follows a board from `child` on: all moves in increasing order.
static void place_children(__global uchar *boards, __global uchar *movers, const size_t at,
                           size_t child)
{
    const int side = movers[at];
    const view_t board = view_of(boards + at * CELLS, side);
    for (uint i = 0; i < PITS; ++i)
        if (STONES(board.own, i) > 0u && !is_over(board)) {
            const moved_t after = play(board, i);
            put_board(boards + child * CELLS, boards + at * CELLS, side, after);
            movers[child++] = after.again ? side : BOTTOM - side;
        }
}

// A workgroup is a part of the boards, a work-item every n-th of them. No local memory, no
// barriers.
__kernel void expand(__global uchar *boards, __global uchar *movers, __global const uint *counts,
                     __global uint *first, __global const uint *sums, const uint board_count,
                     const uint blocks, const uint level, const uint parents, const uint children,
                     const uint skip, const uint most, const uint first_group)
{
    const size_t game = GAME(most, PART), whole = game * board_count;
    const uint n = batch(counts[game * LEVELS + level], skip, most);
    const uint begin = PART_OF_GAME(most, PART) * PART, end = min(begin + PART, n);
    for (uint k = begin + get_local_id(0); k < end; k += get_local_size(0)) {
        const size_t at = whole + parents + skip + k;
        first[at] += sums[game * blocks + k / WIDE_BLOCK];
        place_children(boards, movers, at, whole + children + first[at]);
    }
}

// The same by one workgroup for each game, where there are few boards: one launch instead of three.
// A work-item is every n-th board. Local memory: of wide.cl.
__kernel void expand_few(__global uchar *boards, __global uchar *movers, __global uint *counts,
                         __global uint *first, const uint board_count, const uint level,
                         const uint parents, const uint children, const uint skip, const uint most,
                         const uint first_group)
{
    const size_t game = GROUP, whole = game * board_count;
    const uint n = batch(counts[game * LEVELS + level], skip, most);
    const size_t at = whole + parents + skip;
    for (uint i = get_local_id(0); i < n; i += get_local_size(0))
        first[at + i] = move_count(view_of(boards + (at + i) * CELLS, movers[at + i]));
    barrier(CLK_GLOBAL_MEM_FENCE);  // numbers of moves, before they are added up
    const uint all = wide_scan_exclusive(first + at, n);
    if (get_local_id(0) == 0) counts[game * LEVELS + level + 1u] = all;
    for (uint i = get_local_id(0); i < n; i += get_local_size(0))
        place_children(boards, movers, at + i, whole + children + first[at + i]);
}
