// rng.cl: random numbers that are the same on every device: MWC64X with streams and skip-ahead.
//
// State (x, c), two 32-bit words, stands for v = A x + c with A = 4294883355. One step multiplies
// v by A modulo M = A 2^32 - 1 (prime), so d steps are one multiplication by A^d: streams are
// reached by skipping. Every orbit has (M - 1) / 2 states. (D. B. Thomas, "The MWC64X random
// number generator", Imperial College, 2011.) x = c = 0 and x = 2^32 - 1, c = A - 1 (v = 0
// modulo M) never move and must not be used; rng_seed and rng_skip never lead there.
//
// Everything here is called by one work-item on its own private state. Nothing needs a barrier or
// local memory. Cost: rng_next one 32 x 32 -> 64 bit multiplication; rng_skip(d) one 128-bit
// product per set bit of d, at most 64, and one 64-bit division.
//
// Twin: reference_py/primitives/rng.py

#ifndef PRIMITIVES_RNG_CL
#define PRIMITIVES_RNG_CL

#include "primitives/real.cl"

#define RNG_A 4294883355u
#define RNG_M 18446383549859758079ul
#define RNG_ORBIT 9223191774929879039ul  // draws until it repeats
#define RNG_BASE 4077358422479273989ul  // v of the first state of stream (base 0, id 0)

typedef struct {
    uint x, c;
} rng_t;

// ---------------------------------------------------------------- state in memory: one 64-bit word

static rng_t rng_load(ulong packed)
{
    rng_t rng;
    rng.x = (uint)packed;
    rng.c = (uint)(packed >> 32);
    return rng;
}

static ulong rng_pack(rng_t rng)
{
    return (ulong)rng.x | ((ulong)rng.c << 32);
}

// ---------------------------------------------------------------- drawing

// 32 random bits.
static uint rng_next(rng_t *rng)
{
    const uint out = rng->x ^ rng->c;
    const ulong t = (ulong)RNG_A * rng->x + rng->c;  // < 2^64: (A + 1)(2^32 - 1)
    rng->x = (uint)t;
    rng->c = (uint)(t >> 32);
    return out;
}

// An integer in 0 .. n-1 without bias (multiply-high with rejection). n = 1: 0, nothing drawn.
// n = 0 is excluded by contract; it gives 0 and draws nothing.
static uint rng_below(rng_t *rng, uint n)
{
    if (n <= 1u) return 0u;
    ulong m = (ulong)rng_next(rng) * n;
    // A product is rejected when its low word is below t = (2^32 - n) mod n. As t < n, the
    // division is needed only when the low word is below n, which is rare for small n.
    if ((uint)m < n) {
        const uint t = (0u - n) % n;
        while ((uint)m < t) m = (ulong)rng_next(rng) * n;
    }
    return (uint)(m >> 32);
}

// A uniform real in [0, 1) with 53 random bits: two draws, the first gives the high 27 bits.
static double rng_uniform(rng_t *rng)
{
    const uint high = rng_next(rng) >> 5;
    const uint low = rng_next(rng) >> 6;
    return ((double)high * 0x1p26 + (double)low) * 0x1p-53;  // every step exact
}

// 1 with probability threshold / 2^32. One draw, always.
static int rng_bernoulli(rng_t *rng, uint threshold)
{
    return rng_next(rng) < threshold ? 1 : 0;
}

// ---------------------------------------------------------------- skipping and streams

// a b / 2^64 modulo M, in 0 .. M-1 (Montgomery). Needs b < M; a may be any 64-bit number.
//
// M = -1 modulo 2^32, so the Montgomery quotient digit of T is its own low word l, and one step
// is (T + l M) / 2^32 = (T - l + l A 2^32) / 2^32 = (T >> 32) + A l: the generator's own step.
// Bounds, with T = a b <= (2^64 - 1)(M - 1) and M < 2^64 - 2 * 2^32:
//   after step 1: T1 <= (T + (2^32 - 1) M) / 2^32 < (2^64 M + 2^32 M) / 2^32 = M (2^32 + 1)
//                 < 2^96 - 2 * 2^64 + 2^64 < 2^96, so its upper part stays below 2^32;
//   after step 2: T2 = (T + m M) / 2^64 with m < 2^64, so T2 < (2^64 M + 2^64 M) / 2^64 = 2 M:
//                 at most one subtraction of M is left, and at most one bit is carried out.
static ulong rng_multiply(ulong a, ulong b)
{
    const ulong t0 = a * b;
    const ulong t1 = mul_hi(a, b);
    // step 1
    const ulong add0 = (ulong)RNG_A * (uint)t0;
    const ulong s0 = ((t0 >> 32) | (t1 << 32)) + add0;
    const ulong s1 = (t1 >> 32) + (s0 < add0 ? 1ul : 0ul);
    // step 2
    const ulong add1 = (ulong)RNG_A * (uint)s0;
    const ulong r = ((s0 >> 32) | (s1 << 32)) + add1;
    return (r < add1 || r >= RNG_M) ? r - RNG_M : r;
}

// A^(2^j) 2^64 mod M for j = 0 .. 63: multiplying by entry j with rng_multiply skips 2^j draws.
__constant ulong rng_skip_table[64] = {
    0x0000000100000000ul, 0x0000000000000001ul, 0xfffd7037a3fad2d9ul, 0xe38de6c87a5f8207ul,
    0xecace5893ead6770ul, 0x0b195a75f67cbd7cul, 0x9dbb20d9021b1aeeul, 0x455047b843851f5eul,
    0x35a691d8afb9097aul, 0x2347965b498c9e45ul, 0x73128ca96929d57ful, 0x144c64ba725056b8ul,
    0x3e16f5a3c3f6d809ul, 0xf1ea9f9a532ff1f3ul, 0xbe14c8eeefd8cbd2ul, 0xb9ba90a36b0d78ecul,
    0xe238aa5ae02464d0ul, 0x05813d2c77396ae3ul, 0xe297cc88067b042ful, 0x7204703807e4ee8eul,
    0xb08c498011110f62ul, 0x3959f88880e7e574ul, 0xf8d8a7f77e0b67d5ul, 0x7e68f976f62d4c98ul,
    0xd75464d9a3b5a497ul, 0xa5d40611b8bbf08cul, 0x3bcd85f4805418c4ul, 0x8d8a630c56021b2aul,
    0xaa7a860b8d9e6a5cul, 0x9df01f91d64e08a6ul, 0x28c6991ed7b34a38ul, 0x084f0bb2fb4009e3ul,
    0x02968ff242a826adul, 0xa203eb5b6245df6aul, 0x5b21ad11932fd625ul, 0xcd0d408d3dffaeb3ul,
    0x23952ffd77e6567ful, 0x382ea63a5a4072fful, 0x120a10a58c142cbbul, 0xc4c984034089745eul,
    0x4d4ad1a3c35ba040ul, 0xc032381de4b1b3c4ul, 0xd52f5f70b37fe39ful, 0x0db77517817593b9ul,
    0x03a63f6b272e1531ul, 0xbe88086a02fa6c20ul, 0x29648a8b99331bc6ul, 0xc690db50a5827027ul,
    0x7fbff8b0a64f62a8ul, 0xba9e1fa3d65d59b4ul, 0x70af5dfa63fc2d13ul, 0x57698c62e4eee48cul,
    0xa2a7733b54c68de5ul, 0x8003d15479edc4bcul, 0x16816a6d979f2935ul, 0x05241aa002f20961ul,
    0x2a8a105d2bea79feul, 0x2829d427045b11d2ul, 0xa69199f62d711f94ul, 0xc7c48f23a4698eecul,
    0x498b204a7e47cab1ul, 0xa54a9596660fb35aul, 0xf994633a46c2410aul, 0xde0024651ea77353ul,
};

static rng_t rng_from_value(ulong v)
{
    rng_t rng;
    rng.x = (uint)(v / RNG_A);
    rng.c = (uint)(v - (ulong)rng.x * RNG_A);
    return rng;
}

static ulong rng_skip_value(ulong v, ulong d)
{
    for (uint j = 0; d != 0ul; ++j, d >>= 1)
        if (d & 1ul) v = rng_multiply(v, rng_skip_table[j]);
    return v;
}

// Same state as after d draws.
static void rng_skip(rng_t *rng, ulong d)
{
    *rng = rng_from_value(rng_skip_value((ulong)RNG_A * rng->x + rng->c, d));
}

// First state of stream id: streams are `gap` draws apart, all moved by `base` draws
// (base + id * gap modulo 2^64). They overlap unless the ids stay below (M - 1) / 2 / gap.
static rng_t rng_seed(ulong base, ulong gap, ulong id)
{
    return rng_from_value(rng_skip_value(RNG_BASE, base + id * gap));
}

// Where on the orbit the streams of a seed begin: the finaliser of SplitMix64 scatters seeds.
static ulong rng_stream_base(ulong seed)
{
    seed += 0x9E3779B97F4A7C15ul;
    seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9ul;
    seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EBul;
    return (seed ^ (seed >> 31)) % RNG_ORBIT;
}

// ---------------------------------------------------------------- binomial

// Successes among n trials, each with probability threshold / 2^32, exact in distribution.
// threshold 0 .. 2^32; 2^32 means certain. n <= 2^31. threshold 0 and >= 2^32 draw nothing.
//
// n <= 8: n Bernoulli draws. Above: every trial compares an endless uniform bit string with the
// threshold, most significant bit first, and all trials look at their bit b together, 32 to a
// word. Where the threshold has a 1, a trial with bit 0 is below it (success); where it has a 0,
// a trial with bit 1 is above it (failure); the others stay undecided. A trial equal to the
// threshold is not below it: failure. The search stops when only zeros are left in the threshold,
// because no undecided trial can then succeed.
// Cost: about n / 16 draws (half of the trials are decided by every bit).
static uint rng_binomial(rng_t *rng, uint n, ulong threshold)
{
    if (threshold == 0ul) return 0u;
    if (threshold >= 0x100000000ul) return n;
    uint successes = 0u;
    if (n <= 8u) {
        for (uint i = 0; i < n; ++i) successes += rng_next(rng) < (uint)threshold ? 1u : 0u;
        return successes;
    }
    uint undecided = n;
    uint rest = (uint)threshold;  // bits of the threshold not yet looked at, left-aligned
    while (undecided > 0u && rest != 0u) {
        uint ones = 0u;
        for (uint word = 0; word < undecided / 32u; ++word) ones += popcount(rng_next(rng));
        if (undecided % 32u != 0u)
            ones += popcount(rng_next(rng) & ((1u << (undecided % 32u)) - 1u));
        if (rest & 0x80000000u) {
            successes += undecided - ones;
            undecided = ones;
        } else {
            undecided -= ones;
        }
        rest <<= 1;
    }
    return successes;
}

// Upper bound of the words that rng_binomial(n, any threshold) draws, to space streams with
// rng_skip. n <= 8: exactly n or none. Above: at most 32 rounds (one for each bit of the
// threshold), each of ceil(undecided / 32) <= ceil(n / 32) words. No overflow for n <= 2^31.
static uint rng_binomial_reserve(uint n)
{
    return n <= 8u ? n : 32u * (n / 32u + (n % 32u != 0u ? 1u : 0u));
}

// The successes of rng_binomial, and the state after rng_binomial_reserve(n) draws, whatever was
// drawn: for one binomial after the other, each on a stretch of its own. Up to 8 trials draw all of
// it, and nothing is skipped.
static uint rng_binomial_spaced(rng_t *rng, uint n, ulong threshold)
{
    const rng_t start = *rng;
    const uint successes = rng_binomial(rng, n, threshold);
    if (n > 8u || threshold == 0ul || threshold >= 0x100000000ul) {
        *rng = start;
        rng_skip(rng, rng_binomial_reserve(n));
    }
    return successes;
}

#endif
