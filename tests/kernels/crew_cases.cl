// Tasks of a crew: each notes when it began and ended, by a clock that all tasks advance.
#include "economy/crew.cl"

__kernel void tasks(__global uint *crews, __global uint *clock, __global uint *began,
                    __global uint *ended, const uint rounds, const uint each, const uint alone,
                    const uint workgroups)
{
    const uint place = get_group_id(0) / workgroups, first = place * (1 + rounds * each);
    __global uint *crew = crews + place * CREW_WORDS;
    for (uint task; (task = next_task(crew, rounds, each, alone)) != NONE; task_is_done(crew)) {
        began[first + task] += 1 + atomic_inc(clock);
        for (uint turn = 0; turn < 100 * (task % 7); ++turn) atomic_inc(clock + 1);
        ended[first + task] += 1 + atomic_inc(clock);
    }
    leave_crew(crew, workgroups);
}
