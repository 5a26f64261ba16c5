// What is known of a node, and is it still of any use to the root?
// Twin: reference_py/games/ngtsg/tree.py.
//
// A game has `nodes` nodes, level after level; arrays of nodes that functions are handed begin with
// those of the game. Levels are those of 0 .. depth, `level_starts` says where each begins. Leaves
// are those of the level `horizon`, and the value of the root is looked for between `low` and
// `high`.
#ifndef GAMES_NGTSG_TREE_CL
#define GAMES_NGTSG_TREE_CL

#include "primitives/real.cl"

#define PENDING 0
#define EXPANDED 1
#define DOOMED 2
#define CLOSED 3
#define CUT 4

#define NO_MOVE 0xffffffffu
#define NO_LEVEL 0xffffffffu
#define NEXT_DEPTH 0xfffffffeu
#define NOTHING (-0x7fffffff)

// Whether a node has no parent: the root is the first of all.
static bool is_root(const uint node)
{
    return node == 0u;
}

// Whether nothing that happens below a node matters any more.
static bool is_done(const uchar state)
{
    return state >= DOOMED;
}

// Whether no value of a node can change the root's, if the best that it has is `known`: its window
// is empty, or an ancestor is done. Above the root is the window that the search was given. What is
// read of `best` and `states` is the ancestors'.
static bool is_dead_with(__global const uint *parents, __global const int *best,
                         __global const uchar *states, const int prune, const int root_low,
                         const int root_high, const uint node, const int known)
{
    int low = known, high = -NOTHING;
    uint at = node;
    bool own = false, done = false;  // whether the node at hand has the same side to move
    while (prune && !is_root(at) && !done) {
        at = parents[at];
        done = is_done(states[at]);
        const int value = best[at];
        if (own)
            low = max(low, value);
        else
            high = min(high, -value);
        own = !own;
    }
    low = max(low, own ? -root_high : root_low);  // own: the root's side is the other one
    high = min(high, own ? -root_low : root_high);
    return prune && (done || low >= high);
}

static bool is_dead(__global const uint *parents, __global const int *best,
                    __global const uchar *states, const int prune, const int root_low,
                    const int root_high, const uint node)
{
    return is_dead_with(parents, best, states, prune, root_low, root_high, node, best[node]);
}

// Whether the value of a root that is done with is outside of the window.
static bool is_missed(const int root_low, const int root_high, const int value)
{
    return (root_low > NOTHING && value <= root_low) ||
           (root_high < -NOTHING && value >= root_high);
}

// Let the parent of a node that is done with know its value, if there is one. Whole numbers, so it
// does not matter in which order children do so.
static void pass_on(__global const uint *parents, __global int *best, __global uint *open_children,
                    const uint node)
{
    const uint parent = parents[node];
    const int known = best[node];
    if (known != NOTHING) atomic_max(&best[parent], -known);
    atomic_dec(&open_children[parent]);
}

// Writes a word that other workgroups may read meanwhile, by operations on whole numbers alone. No
// other work-item writes it.
static void set_word(__global uint *word, const uint value)
{
    atomic_add(word, value - atomic_or(word, 0u));
}

// The level of the batch; beyond the last one of a search that is over or has not begun again.
static uint batch_level(__global const uint *level, const size_t game)
{
    return level[game];
}

#endif
