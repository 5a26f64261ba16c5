// Search for a factor of a number, one candidate a step (test_over_at_once.py).
#pragma OPENCL FP_CONTRACT OFF

// A number without a factor other than itself and 1 has none to be searched for.
__kernel void look(__global const int *number, __global long *ended)
{
    const size_t copy = get_group_id(0);
    if (get_local_id(0) == 0 && number[copy] < 4) ended[copy] = 0;
}

__kernel void divide(__global const int *number, __global int *factor, __global long *ended,
                     const int step)
{
    const size_t copy = get_group_id(0);
    if (get_local_id(0) > 0 || ended[copy] >= 0) return;
    if (number[copy] % (step + 1) == 0) {
        factor[copy] = step + 1;
        ended[copy] = step;
    }
}
