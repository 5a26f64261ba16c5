// A launch that does nothing: what a launch costs.
__kernel void empty(void) {}
