// real.cl: what a real number is, for every kernel that promises identical bits.
//
// A `real` is a double. Kernels combine reals with + - * / sqrt and comparisons only; these are
// correctly rounded on every device. The compiler may not fuse a*b+c into one rounding, because
// one device would and another would not. Twin: a Python float.

#ifndef PRIMITIVES_REAL_CL
#define PRIMITIVES_REAL_CL

#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

typedef double real;

// A function that contains a barrier, or calls one that does, is declared COLLECTIVE: all
// work-items of the group call it together. It must be inlined into the kernel: PoCL splits
// kernels, not functions, at barriers, and a function called twice that stays a function goes
// silently wrong. And no barrier may be inside a condition or a loop that might not run at all
// (write do ... while): PoCL copies everything that follows such a barrier, so each one doubles
// the code and the time to compile it (kernels with a dozen took 18 s to minutes); a return at the
// very start is no harm. A loop with barriers must not begin with one: PoCL then runs the code in
// front of the loop twice.
#define COLLECTIVE static __attribute__((always_inline))

// A function without barriers that takes a pointer to local memory is declared INLINED: PoCL 3.0
// reads and writes elsewhere, or crashes, if such a function stays one (because it is large, or
// called twice) and is handed an address that Clang knows. COLLECTIVE_WHOLE (group.cl) is for
// functions that shall stay ones. Oclgrind must not inline one that returns a struct: it does not
// know what Clang leaves behind (llvm.experimental.noalias.scope.decl), and needs no inlining.
#if DEVICE_IS_INTERPRETED
#define INLINED static
#else
#define INLINED static __attribute__((always_inline))
#endif

// What one work-item alone needs instead of a barrier: nothing, its steps are in order anyway. The
// planner of local memory takes the call for a barrier.
#if DEVICE_IS_CPU
INLINED void alone_in_order(void)
{
}
#endif

// A program that defines ALL_ALONE launches every kernel on a CPU in groups of one work-item
// (`alone_on_cpu` in its table of phases). There nothing that a group shares is left to PoCL, which
// takes long to split kernels at barriers: primitives and kernels are plain loops.
#if DEVICE_IS_CPU && ALL_ALONE
#define get_local_id(dimension) ((size_t)0)
#define get_local_size(dimension) ((size_t)1)
#define barrier(fence) alone_in_order()
#endif

// PoCL takes a branch that directly follows a barrier once for all work-items, as the last of them
// decides, where a return may leave the barrier out. So in the form for GPUs something follows each
// barrier on PoCL, an empty instruction (docs/design/parallel-form.md; GPUs need none, and in the
// form for CPUs one work-item is alone where returns come before barriers).
#if !DEVICE_IS_CPU && defined(POCL_DEVICE_ADDRESS_BITS)
INLINED void empty_instruction(void)
{
    __asm__ volatile("");
}
#define barrier(fence) (barrier(fence), empty_instruction())
#endif

// The number itself, unknown to the compiler. Where PoCL knows that a loop that work-items share,
//     for (uint i = lid; i < n; i += lanes)
// ends at 1, it lets all of them in. A collective function whose n may be written as 1 by its
// caller hides it first; so does a kernel with such a loop of its own (or takes n as an argument).
static uint opaque(const uint n)
{
#if DEVICE_IS_CPU
    volatile uint hidden = n;
    return hidden;
#else
    return n;
#endif
}

// "No index": returned by selections without a candidate, stored in unused slots.
#define NONE 0xffffffffu

#endif
