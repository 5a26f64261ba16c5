// How does a tree of moves grow by playouts? Every leaf is played out as soon as it is reached.
// Twin: reference_py/games/havannah/grow.py.
//
// A workgroup is a tree. Its work-items share the moves of a position when the largest bound is
// looked for and the playouts of a leaf, which belong to their numbers; work-item 0 makes the moves
// on the way down and keeps their results. In local memory: the way down, each work-item's best
// move, and, with RAVE, for both sides a counter for each cell, of half wins (upper 16 bits) and
// playouts with its stone on that cell. A leaf's board is in `spots`, `rows` and `parents`, after
// that of the root, as the work-items copy it for every playout. Macros: RAVE, whether these
// counters are used; TREE_ITEMS, the most work-items of a group.
#include "games/havannah/moves.cl"
#include "games/havannah/playout.cl"
#include "primitives/group.cl"
#include "primitives/softmath.cl"

#define UNTRIED 1e30
#define PRIOR 5.0
#define NO_MOVE CELLS

// The moves of a tree, (node, cell).
typedef struct {
    __global uint *visits, *halves, *below, *seen, *gained;
    __global uchar *known;
} moves_t;

// The bound of an open move of a position, of which the logarithm of its playouts is `spread`.
INLINED double bound_of(const moves_t moves, const size_t at, const double spread,
                        const double exploration, const double rave)
{
    const uint visits = moves.visits[at];
    const double n = (double)visits, halves = (double)moves.halves[at];
#if RAVE
    const double own = visits ? halves / (2.0 * n) : 0.0;
    const double weight = rave / (rave + n);
    const double seen = (double)moves.seen[at], gained = (double)moves.gained[at];
    const double value =
        weight * ((gained + PRIOR) / (2.0 * (seen + PRIOR))) + (1.0 - weight) * own;
    return value + exploration * sqrt(spread / (n + 1.0));
#else
    return visits ? halves / (2.0 * n) + exploration * sqrt(spread / n) : UNTRIED;
#endif
}

// The open move of the largest bound, the lowest of equal ones, NO_MOVE if none is open. Called by
// all work-items; `bounds` and `bests` have an entry for each.
COLLECTIVE uint best_move(const moves_t moves, const size_t node, const uint playouts,
                          const double exploration, const double rave, __local double *bounds,
                          __local uint *bests)
{
    const double spread = soft_log((double)max(2u, playouts));
    double bound = -1.0;
    uint best = NO_MOVE;
    for (uint cell = LANE; cell < CELLS; cell += LANES) {
        const size_t at = node * CELLS + cell;
        if (moves.known[at] != OPEN_MOVE) continue;
        const double value = bound_of(moves, at, spread, exploration, rave);
        if (value > bound) {
            bound = value;
            best = cell;
        }
    }
    bounds[LANE] = bound;
    bests[LANE] = best;
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the best of each, before work-item 0 compares them
    if (LANE == 0u) {
        for (uint i = 1; i < LANES; ++i) {
            if (bounds[i] > bound || (bounds[i] == bound && bests[i] < best)) {
                bound = bounds[i];
                best = bests[i];
            }
        }
        bests[0] = best;
    }
    group_barrier(CLK_LOCAL_MEM_FENCE);  // the best of all, before all read it
    const uint found = bests[0];
    group_barrier(CLK_LOCAL_MEM_FENCE);  // all have read it, before the next position's
    return found;
}

// Begin a node: its cells are taken as those of the one above, and that of the move. Called by all
// work-items.
INLINED void clear(const moves_t moves, const size_t node, const size_t above, const uint move)
{
    for (uint cell = LANE; cell < CELLS; cell += LANES) {
        const size_t at = node * CELLS + cell;
        const bool taken = cell == move || moves.known[above * CELLS + cell] == TAKEN;
        moves.visits[at] = 0u;
        moves.halves[at] = 0u;
        moves.below[at] = 0u;
        moves.known[at] = taken ? TAKEN : OPEN_MOVE;
#if RAVE
        moves.seen[at] = 0u;
        moves.gained[at] = 0u;
#endif
    }
}

// Carry what is certain of the last move of a path back; return what is of the move to the root.
INLINED uint carried_back(const moves_t moves, __local const uint *path, uint depth, uint what)
{
    while (depth--) {
        const size_t node = (size_t)path[2u * depth] * CELLS;
        moves.known[node + path[2u * depth + 1u]] = (uchar)what;
        if (what == WINS) {
            what = LOSES;
            continue;
        }
        bool open = false, tied = false;
        for (uint cell = 0; cell < CELLS; ++cell) {
            open |= moves.known[node + cell] == OPEN_MOVE;
            tied |= moves.known[node + cell] == TIES;
        }
        if (open) return OPEN_MOVE;
        what = tied ? TIES : WINS;
    }
    return what;
}

// Put the stones of a position on a board, who moves next first; return the number of empty spots.
INLINED uint set_up(__global const uchar *board, const uint next, __global const ushort *spot_of,
                    __global const ushort *masks, const held_t held)
{
    uint empty = 0u;
    for (uint i = 0; i < 2 * PADDED; ++i) held.rows[i] = 0u;
    for (uint cell = 0; cell < CELLS; ++cell) {
        const uint what = board[cell], spot = spot_of[cell];
        if (what == EMPTY) {
            ++empty;
        } else {
            place(held.rows + (what == next ? 0u : PADDED), held.parent, masks[spot], spot);
        }
    }
    return empty;
}

// Make the moves of a path on a copy of the root's board, and write the leaf's: who moves next
// first. Return the reasons for which the last move wins.
INLINED uint make_moves(__global const uchar *board, __global const ushort *spot_of,
                        __global const ushort *masks, __global ushort *spots, __global uint *rows,
                        __global ushort *parents, __local const uint *path, const uint depth,
                        const held_t held)
{
    uint reasons = 0u, empty = 0u, full = CELLS;
    for (uint i = 0; i < 2 * PADDED; ++i) held.rows[i] = rows[i];
    for (uint cell = 0; cell < CELLS; ++cell)
        if (board[cell] != EMPTY) held.parent[spot_of[cell]] = parents[spot_of[cell]];
    for (uint i = 0; i < depth; ++i) {
        const uint spot = spot_of[path[2u * i + 1u]];
        reasons = place(held.rows + (i & 1u) * PADDED, held.parent, masks[spot], spot);
    }
    for (uint i = 0; i < PADDED; ++i) {
        rows[2 * PADDED + i] = held.rows[(depth & 1u) * PADDED + i];
        rows[3 * PADDED + i] = held.rows[(1u - (depth & 1u)) * PADDED + i];
    }
    for (uint cell = 0; cell < CELLS; ++cell) {
        const uint spot = spot_of[cell];
        if (((held.rows[spot >> 5] | held.rows[PADDED + (spot >> 5)]) >> (spot & 31u)) & 1u) {
            spots[--full] = (ushort)spot;
            parents[SPOTS + spot] = held.parent[spot];
        } else {
            spots[empty++] = (ushort)spot;
        }
    }
    return reasons;
}

#if RAVE
// Count for each cell the games in which a side has a stone on it, and its half wins in these.
INLINED void count_stones(__local uint *counters, const HELD uint *rows,
                          __global const ushort *cell_of, const uint games, const uint won)
{
    for (uint y = 1; y <= ROWS; ++y) {
        for (uint bits = rows[y]; bits; bits &= bits - 1u) {
            const uint spot = 32u * y + popcount((bits & (0u - bits)) - 1u);
            atomic_add(&counters[cell_of[spot]], games | (won << 16));
        }
    }
}
#endif

__kernel void grow(__global const uchar *board, __global const uchar *to_move,
                   __global const ulong *stream, __global uint *node_count, __global uint *played,
                   __global uchar *solved, __global uint *visits, __global uint *halves,
                   __global uint *below, __global uchar *known, __global uint *seen,
                   __global uint *gained, __global const ushort *spot_of,
                   __global const ushort *cell_of, __global const ushort *masks,
                   __global const uint *marks, __global ushort *spots, __global uint *rows,
                   __global ushort *parents, const uint trees, const uint nodes, const uint leaves,
                   const uint each, const double rave, const ulong limit, const ulong stream_base,
                   __global const uint *game_numbers, __global const real *value_table)
{
    const size_t tree = get_group_id(0), game = tree / trees, first = tree * nodes * CELLS;
    const double exploration = P(exploration);
    if (solved[tree] != OPEN_MOVE) return;
    HOLD_BOARD
    __local uint *path = local_malloc(2 * CELLS * sizeof(uint));
    __local double *bounds = local_malloc(TREE_ITEMS * sizeof(double));
    __local uint *bests = local_malloc(TREE_ITEMS * sizeof(uint));
    __local uint *shared = local_malloc(2 * sizeof(uint));  // reasons, half wins
#if RAVE
    __local uint *counters = local_malloc(2 * CELLS * sizeof(uint));
    for (uint i = LANE; i < 2 * CELLS; i += LANES) counters[i] = 0u;
#endif
    moves_t moves;
    moves.visits = visits + first;
    moves.halves = halves + first;
    moves.below = below + first;
    moves.known = known + first;
#if RAVE
    moves.seen = seen + first;
    moves.gained = gained + first;
#else
    moves.seen = moves.gained = seen;
#endif
    board += game * CELLS;
    rows += tree * (4 * PADDED);
    parents += tree * (2 * SPOTS);
    spots += tree * CELLS;
    start_t start;
    start.spots = spots;
    start.rows = rows + 2 * PADDED;
    start.parents = parents + SPOTS;
    start.masks = masks;
    start.marks = marks;
    const uint empty = set_up(board, to_move[game], spot_of, masks, held);
    if (LANE == 0u) {
        for (uint i = 0; i < 2 * PADDED; ++i) rows[i] = held.rows[i];
        for (uint cell = 0; cell < CELLS; ++cell)
            if (board[cell] != EMPTY) parents[spot_of[cell]] = held.parent[spot_of[cell]];
    }
    uint used = node_count[tree], done = played[tree], what = OPEN_MOVE;
    const ulong numbers = game_numbers[game] * limit + stream[game];
    group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);  // counters, all have read the tree
    uint leaf = 0u;
    do {
        uint node = 0u, depth = 0u, playouts = done;
        do {
            const uint cell = best_move(moves, node, playouts, exploration, rave, bounds, bests);
            if (LANE == 0u) {
                path[2u * depth] = node;
                path[2u * depth + 1u] = cell;
            }
            ++depth;
            const size_t at = (size_t)node * CELLS + cell;
            playouts = moves.visits[at];
            const uint next = moves.below[at];
            const bool grows = !next && playouts >= 2u * each && used < nodes;
            if (grows) clear(moves, used, node, cell);
            node = grows ? used++ : next;
            group_barrier(CLK_GLOBAL_MEM_FENCE);  // the node, and all have read what was below
            if (grows && LANE == 0u) moves.below[at] = node;
        } while (node);
        if (LANE == 0u) {
            shared[0] = make_moves(board, spot_of, masks, spots, rows, parents, path, depth, held);
            shared[1] = 0u;
        }
        group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);  // the leaf's board, its reasons
        const uint reasons = shared[0], last = (depth - 1u) & 1u;
        start.empty = empty - depth;
        if (reasons) {
            if (LANE == 0u) {
                shared[1] = 2u * each;
#if RAVE
                __local uint *of_last = counters + last * CELLS;
                count_stones(of_last, held.rows + last * PADDED, cell_of, each, 2u * each);
                __local uint *of_next = counters + (1u - last) * CELLS;
                count_stones(of_next, held.rows + (1u - last) * PADDED, cell_of, each, 0u);
#endif
            }
        } else {
            for (uint k = LANE; k < each; k += LANES) {
                const ulong number = numbers + (ulong)(done + k) * trees + tree % trees;
                const uint ended = playout(start, held, stream_of(stream_base, number)) >> RESULT;
                const uint won = ended == WON ? 2u : ended == DRAW ? 1u : 0u;
                atomic_add(&shared[1], won);
#if RAVE
                count_stones(counters + (1u - last) * CELLS, held.rows, cell_of, 1u, 2u - won);
                count_stones(counters + last * CELLS, held.rows + PADDED, cell_of, 1u, won);
#endif
            }
        }
        done += each;
        group_barrier(CLK_LOCAL_MEM_FENCE);  // half wins and counters, before they are stored
#if RAVE
        for (uint i = 0; i < depth; ++i) {
            __local const uint *own = counters + (i & 1u) * CELLS;
            for (uint cell = LANE; cell < CELLS; cell += LANES) {
                const size_t at = (size_t)path[2u * i] * CELLS + cell;
                if (moves.known[at] == TAKEN) continue;
                moves.seen[at] += own[cell] & 0xffffu;
                moves.gained[at] += own[cell] >> 16;
            }
        }
        // Counters were read before they are emptied, and what is known before it changes.
        group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
        for (uint i = LANE; i < 2 * CELLS; i += LANES) counters[i] = 0u;
#endif
        if (LANE == 0u) {
            for (uint i = 0; i < depth; ++i) {
                const size_t at = (size_t)path[2u * i] * CELLS + path[2u * i + 1u];
                moves.visits[at] += each;
                moves.halves[at] += (i & 1u) == last ? shared[1] : 2u * each - shared[1];
            }
            shared[0] = OPEN_MOVE;
            if (reasons || start.empty == 0u)
                shared[0] = carried_back(moves, path, depth, reasons ? WINS : TIES);
        }
        group_barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);  // the tree as it is now
        what = shared[0];
    } while (++leaf < leaves && what == OPEN_MOVE);
    if (LANE == 0u) {
        node_count[tree] = used;
        played[tree] = done;
        solved[tree] = (uchar)what;
    }
}
