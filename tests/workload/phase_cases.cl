// Kernels whose parameters are found by name (test_phase_table.py).
#pragma OPENCL FP_CONTRACT OFF

// Every work-item notes what it was handed in a row of its own; rows follow each other.
__kernel void note(__global int *notes, __global uint *next, const int tick, const int factor,
                   const int lane_count, __global const int *table)
{
    if (get_global_id(0) > 0) return;
    const uint row = next[0]++;
    notes[4 * row] = tick;
    notes[4 * row + 1] = factor;
    notes[4 * row + 2] = table[0];
    notes[4 * row + 3] = get_global_size(0) / lane_count;
}

__kernel void fill(__global int *shared)
{
    shared[get_global_id(0)] = get_local_size(0);
}

__kernel void advance(__global const int *old, __global int *new, __global const int *shared)
{
    const size_t i = get_global_id(0);
    new[i] = old[i] + shared[0];
}

__kernel void asks(__global int *nowhere)
{
    nowhere[0] = 1;
}
