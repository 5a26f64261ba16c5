// Which nodes are done with, now that the batch is, if many workgroups find out?
// Twin: reference_py/games/ngtsg/close.py.
//
// The same as close.cl has, in two launches, each of which is a pass. The parents of a batch can be
// as many as its nodes, and are judged by many workgroups; their ancestors are few, and the last
// workgroup to finish goes through them. Which one that is, a counter tells: workgroups do not
// wait for each other. A pass reads what is known of ancestors in one pair of arrays, and writes it
// to another: the first one from those of the tree, and the second one back. So all that workgroups
// of a launch tell each other are words that are changed and read by atomic operations: `raised`
// and `open_children`, the level and the counter.
//
// Those words have to be there before their workgroup is counted. OpenCL 1.2 has no fence for that:
// mem_fence orders memory for its workgroup only (NVIDIA compiles it to membar.cta). But an atomic
// operation is done for all once its result is back. So every work-item looks at the results of
// its own before the barrier, and the counter comes behind that. Local memory: two words.
#include "games/ngtsg/close.cl"

#define WORTH_SHARING 2u  // nodes of a work-item for which further workgroups are worth their while
#define LIFT 0x7fffffffu  // makes values whole numbers from 1 on, where `NOTHING` is 0

// Let the parent of a node that is done with know its value, if there is one, for later. Returns
// whether the parent has heard it: always, but code that uses the answer has to wait for it.
static bool raise_parent(__global const uint *parents, __global uint *raised,
                         __global uint *open_children, const uint node, const int known)
{
    const uint parent = parents[node], reported = known == NOTHING ? 0u : as_uint(-known) + LIFT;
    const uint before = atomic_max(&raised[parent], reported);
    return atomic_dec(&open_children[parent]) > 0u && before < 0xffffffffu;
}

__kernel void close_by_groups(
    __global const uint *moves, __global const uint *parents, __global int *best,
    __global uchar *states, __global const uint *first_child, __global const uint *child_count,
    __global uint *open_children, __global uint *counts, __global uint *taken, __global uint *round,
    __global const uint *horizon, __global const int *low, __global const int *high,
    __global uint *level, __global const uint *batch_level_of, __global long *ended,
    __global const uint *batch_first, __global const uint *batch_end,
    __global const uint *batch_leaves, __global long *leaves, __global int *value,
    __global uint *move, __global uint *as_good, __global uint *perhaps_as_good,
    __global const uint *last_rounds, __global uint *raised, __global int *best_between,
    __global uchar *states_between, __global uint *arrived, const uint second, const uint ancestors,
    const uint copies, const uint tick, const uint nodes, const uint depth, const int prune)
{
    const size_t groups = get_num_groups(0) / copies, game = get_group_id(0) / groups;
    const uint group = (uint)(get_group_id(0) % groups);
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    const size_t whole = game * nodes, rows = game * (depth + 1u);
    const uint at = batch_level_of[game];
    const int root_low = low[game], root_high = high[game];
    parents += whole;
    best += whole;
    states += whole;
    open_children += whole;
    raised += game * ancestors;
    best_between += game * ancestors;
    states_between += game * ancestors;
    __global const int *best_then = second ? best_between : best;
    __global const uchar *states_then = second ? states_between : states;
    __global int *best_now = second ? best : best_between;
    __global uchar *states_now = second ? states : states_between;
    uint first = at > 0u ? parents[batch_first[game]] : 0u;
    uint last = at > 0u ? parents[max(batch_end[game], 1u) - 1u] : 0u;
    // Where the answer is read from the moves of the root, one workgroup has written these.
    const bool shared = at > 2u && last - first >= WORTH_SHARING * lanes;
    const uint workers = shared ? (uint)groups : 1u;
    const bool works = group < workers;
    __local uint *place = local_malloc(2u * sizeof(uint));  // level or how many have finished; one
    if (lid == 0u) {
        place[0] = atomic_or(&level[game], 0u);
        place[1] = 1u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // the level, which the last workgroup changes
    const bool over = place[0] > depth;
    const uint behind = at > 0u && works && !over ? last + 1u : first;
    bool heard = true;
    for (uint node = first + group * lanes + lid; node < behind; node += workers * lanes) {
        const int known = best[node];
        const uchar found = judged(parents, best_then, states_then, prune, root_low, root_high,
                                   node, states[node], known, open_children[node] > 0u);
        if (found < NEWLY) continue;
        states[node] = found - NEWLY;
        if (!is_root(node))
            heard = raise_parent(parents, raised, open_children, node, known) && heard;
    }
    if (!heard) place[1] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all parents have heard of all children
    if (lid == 0u)
        place[0] = shared && works && !over ? atomic_add(&arrived[game], place[1]) + 1u : workers;
    barrier(CLK_LOCAL_MEM_FENCE);  // how many have finished
    const bool ends = place[0] >= workers && works && !over;
    if (lid == 0u && shared && ends) atomic_and(&arrived[game], 0u);
    uint left = at > 1u && ends ? at - 1u : 0u;
    do {
        first = left > 0u ? parents[first] : 0u;
        last = left > 0u ? parents[last] : 0u;
        const uint end = opaque(left > 0u ? last + 1u : 0u);
        for (uint node = first + lid; node < end; node += lanes) {
            const int reported = as_int(atomic_and(&raised[node], 0u) - LIFT);
            const int known = max(best_then[node], reported);
            const bool open = atomic_or(&open_children[node], 0u) > 0u;
            const uchar found = judged(parents, best_then, states_then, prune, root_low, root_high,
                                       node, states_then[node], known, open);
            best_now[node] = known;
            states_now[node] = found < NEWLY ? found : found - NEWLY;
            if (found >= NEWLY && !is_root(node))
                raise_parent(parents, raised, open_children, node, known);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);  // what is known of a level, before those above it
        left -= left > 0u;
    } while (left > 0u);
    if (lid == 0u && second && ends)
        compact_levels(moves + whole, best, states, first_child + whole, child_count + whole,
                       counts + rows, taken + rows, round + rows, horizon, low, high, level, ended,
                       batch_leaves, leaves, value, move, as_good, perhaps_as_good, last_rounds,
                       game, tick, depth);
}
