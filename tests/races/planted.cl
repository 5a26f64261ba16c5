// planted.cl: mistakes that Oclgrind must find, a kernel each, and three kernels without any.

// No barrier between writing a neighbour's entry and reading it.
__kernel void missing_barrier(__global int *out)
{
    __local int x[8];
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    x[lid] = (int)lid;
    out[get_global_id(0)] = x[(lid + 1u) % lanes];
}

// All write the same value: still no race.
__kernel void uniform_write(__global int *out)
{
    __local int x;
    x = 1;
    barrier(CLK_LOCAL_MEM_FENCE);  // the value
    out[get_global_id(0)] = x;
}

// Two workgroups, one place.
__kernel void race_of_groups(__global int *out)
{
    if (get_local_id(0) == 0u) out[0] = (int)get_group_id(0);
}

// Only the local fence orders nothing in global memory.
__kernel void wrong_fence(__global int *out)
{
    out[get_global_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);  // the wrong memory
    if (get_local_id(0) == 0u) out[get_global_id(0) + 1] = 2;
}

__kernel void divergent_barrier(__global int *out)
{
    if (get_local_id(0) < 2u) barrier(CLK_LOCAL_MEM_FENCE);  // some get here
    out[get_global_id(0)] = 1;
}

__kernel void global_overrun(__global int *out)
{
    out[get_global_id(0) + 1] = 1;
}

__kernel void global_overread(__global int *out)
{
    out[get_global_id(0)] = out[get_global_id(0) + 64] > 0 ? 1 : 0;
}

__kernel void local_overrun(__global int *out, __local int *x)
{
    x[get_local_id(0) + 1u] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);  // x
    out[get_global_id(0)] = 1;
}

__kernel void uninitialised_local(__global int *out, __local int *x)
{
    const uint lid = get_local_id(0);
    if (lid > 0u) x[lid] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);  // all but the first
    out[get_global_id(0)] = x[lid];
}

__kernel void uninitialised_private(__global int *out)
{
    int x;
    if (get_local_id(0) > 0u) x = 1;
    out[get_global_id(0)] = 0;
    if (x > 0) out[get_global_id(0)] = 1;
}

// ---------------------------------------------------------------- right

__kernel void clean(__global int *out, __local int *x)
{
    const uint lid = get_local_id(0), lanes = get_local_size(0);
    x[lid] = (int)lid;
    barrier(CLK_LOCAL_MEM_FENCE);  // all entries, before a neighbour reads them
    out[get_global_id(0)] = x[(lid + 1u) % lanes];
}

// Atomic additions in any order are no race.
__kernel void clean_atomics(__global int *out)
{
    __local int sum;
    if (get_local_id(0) == 0u) sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);  // zero
    atomic_add(&sum, 1);
    barrier(CLK_LOCAL_MEM_FENCE);  // the sum
    out[get_global_id(0)] = sum;
}

// Filled by the host, which Oclgrind takes for uninitialised if it is done with
// clEnqueueFillBuffer.
__kernel void clean_filled(__global int *out)
{
    if (out[get_global_id(0)] == 0) out[get_global_id(0)] = 1;
}
