// Which nodes are next, if many workgroups look for them?
// Twin: reference_py/games/ngtsg/select.py.
//
// The same batch as select.cl lists. One workgroup goes through the parents of a level strip after
// strip, which takes a GPU 11 ns for each of up to a million parents; here workgroups take strips
// as they come, and each writes its own part of the batch.
//
// Where a strip's nodes go is known once those of all strips before it are counted. A workgroup
// that has counted puts its number, one more than it is, into `sums`, and then waits for the
// numbers of those before it. Strips are handed out by a counter, so that it waits for workgroups
// alone that have begun before it and do not wait for anything first: whatever a device has begun
// has to make progress, which every GPU does, but no two workgroups have to run at the same time. A
// number is all that workgroups tell each other, in one word and by atomic operations, so
// OpenCL 1.2 needs no order of memory for it. The last workgroup to finish clears these words.
//
// Local memory: 9 bytes for each parent of a strip, and four words.
#include "games/ngtsg/select.cl"

// Parents of a strip that a work-item has: several hide each other's waits for memory, and share
// what the workgroup does for a strip.
#define EACH 4u
#define LEAST_STRIP 8u  // parents of a strip, so that the room for strips is known

// How many nodes of a strip are in the batch, as soon as its workgroup has written it.
static uint published_sum(__global uint *sums, const uint strip)
{
    uint sum = 0u;
    do sum = atomic_or(&sums[strip], 0u);
    while (sum == 0u);
    return sum - 1u;
}

__kernel void select_by_groups(
    __global const uint *moves, __global const uint *parents, __global int *best,
    __global uchar *states, __global uint *first_child, __global uint *child_count,
    __global uint *open_children, __global uint *counts, __global uint *taken, __global uint *round,
    __global uint *horizon, __global uint *root_moves, __global int *low, __global int *high,
    __global long *repeated, __global uint *level, __global uint *batch, __global uint *batch_size,
    __global uint *batch_first, __global uint *batch_end, __global const uint *level_starts,
    __global const uint *level_most, __global const uint *last_rounds, __global const uint *ranks,
    __global uint *turns, __global uint *sums, const uint most_strips, const uint copies,
    const uint nodes, const uint slots, const uint width, const uint depth, const int prune,
    const uint most_leaves, const int principal_variation, const uint deepening,
    const int aspiration)
{
    const size_t groups = get_num_groups(0) / copies, game = get_group_id(0) / groups;
    const bool leads = get_group_id(0) % groups == 0u;
    const uint lid = (uint)get_local_id(0), lanes = (uint)get_local_size(0);
    __local uint *broadcast =
        local_malloc(4u * sizeof(uint));  // strip, nodes before it, level, round
    if (lid == 0u) {
        const uint level_now = atomic_or(&level[game], 0u);
        broadcast[1] = 0u;
        broadcast[2] = level_now;
        broadcast[3] =
            level_now > depth ? 0u : atomic_or(&round[game * (depth + 1u) + level_now], 0u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // level and round, which a workgroup may change
    const uint found = broadcast[2];
    if (!leads && (found == 0u || found > depth)) return;  // the root, or nothing, is for one
    next_depth(moves, best, states, first_child, child_count, open_children, counts, taken, level,
               horizon, root_moves, low, high, repeated, nodes, width, depth, deepening, aspiration,
               game, found == NEXT_DEPTH);
    const uint at = found == NEXT_DEPTH ? 0u : found;
    const bool over = at > depth, inner = !over && at > 0u;
    const size_t row = game * (depth + 1u) + (over ? 0u : at), whole = game * nodes;
    const uint start = level_starts[over ? 0u : at];
    const uint end = start + counts[row], last_round = last_rounds[over ? 0u : at];
    const bool line = !over && principal_variation && is_first_line(taken + row - at, at);
    const uint usual = at == horizon[game] ? most_leaves : level_most[over ? 0u : at];
    const uint most = line ? 1u : usual;
    const int root_low = low[game], root_high = high[game];
    const uint usual_first = start + taken[row], usual_round = broadcast[3];
    uint first = usual_first, now = usual_round;
    parents += whole;
    best += whole;
    states += whole;
    first_child += whole;
    child_count += whole;
    batch += game * slots;
    turns += game * 2u;
    sums += game * most_strips;
    __local uint *before = local_malloc(STRIP * sizeof(uint));
    __local uint *from = local_malloc(STRIP * sizeof(uint));
    __local uchar *dead = local_malloc(STRIP * sizeof(uchar));
    const uint length = min(max(EACH * lanes, LEAST_STRIP), STRIP);
    const uint usual_parent = inner ? parents[first] : 0u;
    const uint behind = inner ? parents[end - 1u] + 1u : 0u;
    const uint usual_strips = (behind - usual_parent + length - 1u) / length;
    uint parent = usual_parent, strips = usual_strips;
    uint next = 0u, known = 0u, chosen = 0u;
    bool alone = false, goes_on = false;
    do {
        if (lid == 0u) broadcast[0] = alone || !inner ? next : atomic_inc(&turns[0]);
        barrier(CLK_LOCAL_MEM_FENCE);  // the strip that is next
        const uint strip = broadcast[0];
        const bool any = strip < strips;
        const uint begin = parent + strip * length;
        const uint here = opaque(any ? min(behind - begin, length) : 0u);
        for (uint i = lid; i < here; i += lanes) {
            const uint at_hand = begin + i;
            // This workgroup does not read states that others have just marked: a parent that had a
            // child in the round that all went through is done with, as that round had none.
            const bool seen = alone && at_hand >= usual_parent &&
                              round_count(first_child, child_count, usual_first, ranks[usual_round],
                                          rank_end(ranks, usual_round, last_round), at_hand) > 0u;
            const uint own =
                seen ? 0u
                     : pending_count(first_child, child_count, states, first, ranks[now],
                                     rank_end(ranks, now, last_round), at_hand);
            const bool useless =
                own > 0u && is_dead(parents, best, states, prune, root_low, root_high, at_hand);
            dead[i] = useless;
            before[i] = useless ? 0u : own;
            from[i] = pending_from(first_child, first, ranks[now], at_hand);
        }
        barrier(CLK_LOCAL_MEM_FENCE);  // numbers of children, before they are added up
        const uint sum = scan_exclusive(before, here);
        if (lid == 0u && any && !alone) atomic_add(&sums[strip], sum + 1u);
        const uint until = any && !alone ? strip : known;
        uint earlier = 0u;
        for (uint i = known + lid; i < until; i += lanes) earlier += published_sum(sums, i);
        if (earlier > 0u) atomic_add(&broadcast[1], earlier);
        barrier(CLK_LOCAL_MEM_FENCE);  // the nodes of all strips before this one
        if (!alone) chosen = broadcast[1];
        known = until;
        list_children(before, from, dead, here, sum, chosen, most, begin, states, batch);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // the list, and the strip is read
        const uint all = chosen + sum;
        const bool asked = any && chosen < most, last = strip + 1u == strips;
        const bool nothing = asked && last && all == 0u && now < last_round;
        const bool ends = asked && !nothing && (last || all >= most);
        if (lid == 0u && ends) {
            if (now != usual_round) atomic_max(&round[row], now);
            batch_size[game] = min(all, most);
            batch_first[game] = first;
            batch_end[game] = all >= most ? batch[most - 1u] + 1u : end;
        }
        goes_on = asked && !ends && all < most;
        if (nothing) {  // further rounds, which are seldom asked for here, are for this workgroup
            ++now;
            alone = true;
            first = start;
            parent = parents[start];
            strips = (behind - parent + length - 1u) / length;
            next = 0u;
        } else if (alone) {
            next = strip + 1u;
            chosen = all;
        }
    } while (goes_on);
    if (lid == 0u && at == 0u) {
        batch[0] = first;
        batch_size[game] = 1u;
        batch_first[game] = first;
        batch_end[game] = most == 1u ? first + 1u : end;
    }
    if (lid == 0u) {
        const bool through = inner && atomic_inc(&turns[1]) + 1u == groups;
        broadcast[0] = through ? min(atomic_or(&turns[0], 0u), usual_strips) : 0u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);  // how many numbers there are, if all others are through
    const uint used = opaque(broadcast[0]);
    for (uint i = lid; i < used; i += lanes) atomic_and(&sums[i], 0u);
    if (lid == 0u && used > 0u) {
        atomic_and(&turns[0], 0u);
        atomic_and(&turns[1], 0u);
    }
}
