// crew.cl: how do the workgroups of one launch carry out a market, whose rounds follow each other?
//
// On a CPU: a launch costs PoCL 15 microseconds, and the tasks of a round (meetings, or forming the
// pairs) not much more. So a market of a society is one launch with a workgroup for each pair, and
// every workgroup takes tasks, one after the other, as long as there are any. A core that finds all
// tasks of a round taken waits for those that are not done. No workgroup depends on another: one
// that has waited for long leaves (its core may be busy with something else), and the one that it
// has waited for takes the next task. So a single workgroup, or many in turn, do the same work. The
// last one to leave makes the words 0 for the next launch. No local memory.
//
// On a GPU, where all work-items of a workgroup carry out a task, a task waits only for those that
// it needs. Workgroups take tasks in order and each needs only tasks before it, so the first one
// that is not done never waits, however few workgroups run at the same time.
//
// All accesses to the words are atomic, also those that only look: a processor may carry out a
// plain look after reads that follow it, which then miss what a task before has written.
//
// Twin: none; nothing is computed here.

#ifndef ECONOMY_CREW_CL
#define ECONOMY_CREW_CL

#include "primitives/real.cl"

// Words of a society: tasks begun, tasks done, workgroups that have left; on a GPU as many more as
// there are agents.
#if DEVICE_IS_CPU
#define CREW_WORDS 3
#else
#define CREW_WORDS (3 + AGENTS)
#endif
#ifndef PATIENCE
#define PATIENCE 500  // looks at the words, some 10 microseconds; a task is shorter
#endif

// The next task of a society; NONE if there are none left or this workgroup has waited for long.
// Task 0 comes before all others. Then every round has `each` tasks, of which the first `alone` (0
// or 1) come before the others.
INLINED uint next_task(volatile __global uint *crew, const uint rounds, const uint each,
                       const uint alone)
{
    for (uint waited = 0; waited < PATIENCE; ++waited) {
        const uint task = atomic_or(crew, 0u);
        if (task > rounds * each) break;
        const uint place = task == 0 ? 0 : (task - 1) % each;
        if (atomic_or(crew + 1, 0u) < task - place + min(place, alone)) continue;
        if (atomic_max(crew, task + 1) == task) {  // no other one has taken it meanwhile
            mem_fence(CLK_GLOBAL_MEM_FENCE);  // what tasks before have written, before it is read
            return task;
        }
    }
    return NONE;
}

INLINED void task_is_done(volatile __global uint *crew)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);  // what the task has written, before others count on it
    atomic_inc(crew + 1);
}

INLINED void leave_crew(volatile __global uint *crew, const uint workgroups)
{
    if (atomic_inc(crew + 2) + 1 < workgroups) return;
    for (uint word = 0; word < CREW_WORDS; ++word) atomic_and(crew + word, 0u);
}

#if !DEVICE_IS_CPU
// Order memory for all workgroups: what was written before, and what is read after. That is more
// than OpenCL promises of `mem_fence`, but so it is compiled where markets are one launch
// (`Device.orders_workgroups`); only NVIDIA's OpenCL needs an instruction of its own.
#if FENCES_BY_PTX
#define fence_all() __asm__ volatile("fence.acq_rel.gpu;" ::: "memory")
#else
#define fence_all() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif

INLINED void await(volatile __global uint *word, const uint least)
{
    while (atomic_or(word, 0u) < least) continue;
}
#endif

#endif
