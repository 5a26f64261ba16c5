// Does a new stone win? Winner test (b) of three: groups are trees, which the stone unites.
// Twin: reference_py/games/havannah/forest.py.
//
// parent[spot] is the spot above, or, of a root, ROOT with its rank and the sides and corners that
// its group touches. Only spots with stones are ever read. No group has more than 136 stones, so no
// rank is above 7. No barriers. Macros: FIND, one of the FIND_ words.
#ifndef GAMES_HAVANNAH_FOREST_CL
#define GAMES_HAVANNAH_FOREST_CL

#include "games/havannah/board.cl"

#define ROOT 0x8000u
#define RANK(word) (((word) >> 12) & 7u)
#define ONE_RANK 0x1000u
#define MASK 0xfffu

// The root of a stone's group.
INLINED uint root(HELD ushort *parent, const uint spot)
{
    uint at = spot, up = parent[at];
#if FIND == FIND_HALVING
    while (!(up & ROOT)) {
        const uint above = parent[up];
        if (above & ROOT) return up;
        parent[at] = (ushort)above;
        at = above;
        up = parent[at];
    }
    return at;
#else
    while (!(up & ROOT)) {
        at = up;
        up = parent[at];
    }
#if FIND == FIND_COMPRESSION
    for (uint below = spot, next = parent[below]; below != at && next != at; next = parent[below]) {
        parent[below] = (ushort)at;
        below = next;
    }
#endif
    return at;
#endif
}

// Put a stone on a spot; return the reasons for which it wins, 0 if it does not. `rows` are those
// of its side, `mask` the side or corner that the spot is on.
INLINED uint place(HELD uint *rows, HELD ushort *parent, const uint mask, const uint spot)
{
    rows[spot >> 5] |= 1u << (spot & 31u);
    const uint around = neighbours_in(rows, spot);
    parent[spot] = (ushort)(ROOT | mask);
    if (around == 0u) return 0u;
    const uint after = ((around << 1) | (around >> 5)) & 63u;
    const uint before = ((around >> 1) | (around << 5)) & 63u;
    bool ring = around == 63u;
    // A neighbour between two others may have six own neighbours now.
    for (uint inner = around & after & before; inner; inner &= inner - 1u) {
        const uint near = popcount((inner & (0u - inner)) - 1u);
        ring |= neighbours_in(rows, (uint)((int)spot + directions[near])) == 63u;
    }
    // One neighbour of each run of them; the stone becomes a part of the first one's group.
    uint starts = around == 63u ? 1u : around & ~after;
    const uint first = popcount((starts & (0u - starts)) - 1u);
    starts &= starts - 1u;
    uint top = root(parent, (uint)((int)spot + directions[first]));
    uint word = parent[top] | mask;
    if (RANK(word) == 0u) word += ONE_RANK;
    parent[spot] = (ushort)top;
    for (; starts; starts &= starts - 1u) {
        const uint near = popcount((starts & (0u - starts)) - 1u);
        const uint found = root(parent, (uint)((int)spot + directions[near]));
        if (found == top) {
            ring = true;
            continue;
        }
        const uint other = parent[found];
        if (RANK(other) > RANK(word)) {
            parent[top] = (ushort)found;
            top = found;
            word = other | (word & MASK);
        } else {
            parent[found] = (ushort)top;
            word = (word | (other & MASK)) + (RANK(other) == RANK(word) ? ONE_RANK : 0u);
        }
        parent[top] = (ushort)word;
    }
    parent[top] = (ushort)word;
    return (ring ? RING : 0u) | reasons_of_mask(word & MASK);
}

#endif
