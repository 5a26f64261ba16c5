// A launch that does nothing: what a launch costs. The argument is there because NVIDIA's compiler
// makes invalid code of a kernel without any.
__kernel void empty(__global int *unused)
{
    if (get_global_id(0) == (size_t)-1) unused[0] = 1;
}
