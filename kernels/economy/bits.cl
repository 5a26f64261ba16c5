// bits.cl: sets of small whole numbers as the bits of words.
//
// Twin: none; nothing is computed here.

#ifndef ECONOMY_BITS_CL
#define ECONOMY_BITS_CL

#include "primitives/real.cl"

// Place of the lowest bit of a word that has one.
static uint lowest_bit(const ulong word)
{
    return 63 - (uint)clz(word & (~word + 1));
}

#endif
