// What does an agent extract in a day, on a GPU that has few agents: a front of four resources.
// Twin: reference_py/economy/extraction.py.
//
// A workgroup is an agent. Late in a run most units of a day are of two to four resources. These
// are taken out of the tree (extraction.cl) into a front, in private memory of the work-item that
// walks the day: as long as the best of them pays more than all others, `bound`, a unit needs no
// way through the tree. All work-items look ahead what the next AHEAD units of each would bring, as
// far as it is known: with full experience and a device that lasts. So a unit waits for no look-up
// and no division. What was taken is added up before all look ahead again. A front that ends soon
// is not opened again at once: early in a run many resources pay alike.
//
// Local memory: that of extraction.cl for an agent, and 564 bytes. With devices, for 5 to 64
// resources, and if no agent takes what pays nearly best (EXTRACTION_FRONT,
// societies/economy/memory.py).
#include "economy/extraction.cl"

#if EXTRACTION_FRONT && !DEVICE_IS_CPU

#define FRONT 4
#define AHEAD 16
#define TAKEN_OUT (-2.0)  // below the gain of a resource that is gone
#define SHORT_FRONT 16u  // units
#define WAIT 64u  // units

typedef struct {
    real gain[FRONT], bound;
    uint resource[FRONT];  // ascending
    uint units, wait;  // units extracted since it was opened; before it is opened again
    bool open;
} front_t;

// Take the best resources out of the tree; `best` becomes that of the others.
INLINED void open_front(TREE_PARAMETERS, front_t *front, best_t *best)
{
    for (uint i = 0; i < FRONT; ++i) front->resource[i] = NONE;
#pragma unroll 1
    for (uint n = 0; n < FRONT; ++n) {
        const uint taken = lowest_bit(best->ties);
        uint r = taken;
        real its_gain = best->gain;
#pragma unroll
        for (uint i = 0; i < FRONT; ++i) {  // put it in its place; those behind it move up
            const uint other = front->resource[i];
            const real others_gain = front->gain[i];
            const bool before = r < other;
            front->resource[i] = before ? r : other;
            front->gain[i] = before ? its_gain : others_gain;
            r = before ? other : r;
            its_gain = before ? others_gain : its_gain;
        }
        *best = update(TREE, taken, read_siblings(TREE, taken), TAKEN_OUT);
    }
    front->bound = best->gain;
    front->units = 0;
    front->open = true;
}

// Put the resources back.
INLINED void close_front(TREE_PARAMETERS, front_t *front, best_t *best)
{
#pragma unroll 1
    for (uint n = 0; n < FRONT; ++n) {
        const uint r = front->resource[0];
        *best = update(TREE, r, read_siblings(TREE, r), front->gain[0]);
#pragma unroll
        for (uint i = 1; i < FRONT; ++i) {  // a place that varies would be in memory
            front->resource[i - 1] = front->resource[i];
            front->gain[i - 1] = front->gain[i];
        }
    }
    front->wait = front->units < SHORT_FRONT ? WAIT : 0;
    front->open = false;
}

INLINED real best_of_front(const front_t *front)
{
    real best = front->gain[0];
#pragma unroll
    for (uint i = 1; i < FRONT; ++i) best = front->gain[i] > best ? front->gain[i] : best;
    return best;
}

// Which of the front is the next: one of those with the largest gain, by a draw if there are more.
INLINED uint choose_of_front(const front_t *front, const real best, rng_t *rng)
{
    uint ties = 0;
#pragma unroll
    for (uint i = 0; i < FRONT; ++i) ties |= front->gain[i] == best ? 1u << i : 0;
    const uint count = popcount(ties);
    if (count > 1) {
        const uint pick = rng_below(rng, count);
#pragma unroll
        for (uint i = 1; i < FRONT; ++i) ties &= pick >= i ? ties - 1 : ties;  // not its lowest
    }
    return 31 - clz(ties & (0u - ties));
}

// Of each resource of the front, in local memory: its number, what its next units bring, of how
// many that is known, and how many were taken.
#define AHEAD_PARAMETERS \
    __local uint *which, __local real *next_gain, __local uint *known, __local uint *used
#define AHEAD_OF which, next_gain, known, used

// Add up what was taken.
INLINED void count_taken(WORK_PARAMETERS, AHEAD_PARAMETERS)
{
    for (uint place = LANE; place < FRONT; place += LANES) {
        const uint r = which[place], units = used[place];
        known[place] = AHEAD;
        if (units == 0) continue;
        const int with = source[r];
        const real taken = minutes_next[r], learns = learned[with];
        real knows = experienced[r], remains = left[r], all = spent[with * RESOURCES + r];
        for (uint i = 0; i < units; ++i) {
            knows += learns;
            remains -= taken;
            all += taken;
        }
        experienced[r] = knows;
        left[r] = remains;  // by hand nothing reads it
        spent[with * RESOURCES + r] = all;
        holding[r] += units;
        atomic_add(units_from + with, (int)units);
        used[place] = 0;
    }
}

// See what the next units bring. A device lasts for them if a unit more would be left.
INLINED void look_ahead(WORK_PARAMETERS, AHEAD_PARAMETERS)
{
    for (uint i = LANE; i < FRONT * AHEAD; i += LANES) {
        const uint place = i / AHEAD, units = i % AHEAD, r = which[place];
        const uint curve = effort_curve(agent, r);
        const int last = effort_last(curve), with = source[r];
        const real worth =
            marginal_of(TABLES, utility_curve(agent, r), holding[r] + 1 + (int)units);
        next_gain[i] = worth / effort_table[effort_start(curve) + last] * speed[with];
        const bool lasts =
            with == source_of(BY_HAND) || left[r] > (real)(units + 2) * minutes_next[r];
        if (experienced[r] < (real)last || !lasts) atomic_min(known + place, units);
    }
}

// Extract units until the day is over or the work-items have to look ahead.
INLINED void walk_front(WORK_PARAMETERS, TREE_PARAMETERS, AHEAD_PARAMETERS, day_t *day,
                        front_t *front)
{
    uint taken[FRONT], limit[FRONT];
    bool some = false;
#pragma unroll
    for (uint i = 0; i < FRONT; ++i) {
        taken[i] = 0;
        limit[i] = known[i];
    }
    while (day->time < day->end) {
        if (front->open) {
            const real best = best_of_front(front);
            if (best > front->bound) {
                const uint place = choose_of_front(front, best, &day->rng);
                uint r = front->resource[0], count = taken[0], most = limit[0];
#pragma unroll
                for (uint i = 1; i < FRONT; ++i) {
                    r = place == i ? front->resource[i] : r;
                    count = place == i ? taken[i] : count;
                    most = place == i ? limit[i] : most;
                }
                real next = next_gain[place * AHEAD + min(count, AHEAD - 1u)];
                day->time += minutes_next[r];
                day->last_gain = best;
                if (most == 0) {
                    next = extract_unit(WORK, r);
                } else {
                    ++count;
                    some = true;
                }
#pragma unroll
                for (uint i = 0; i < FRONT; ++i) {
                    front->gain[i] = place == i ? next : front->gain[i];
                    taken[i] = place == i ? count : taken[i];
                }
                ++front->units;
                if (most != 0 && count == most) break;
                continue;
            }
            if (some) break;  // the front is closed when all is added up
            close_front(TREE, front, &day->best);
        } else if (front->wait == 0) {
            open_front(TREE, front, &day->best);
            for (uint i = 0; i < FRONT; ++i) which[i] = front->resource[i];
            break;
        } else {
            --front->wait;
        }
        work_on(WORK, TREE, day);
    }
#pragma unroll
    for (uint i = 0; i < FRONT; ++i) used[i] = taken[i];
}

// The day of an agent.
COLLECTIVE void extract_by_front(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *rows,
                                 const size_t society, const uint agent)
{
    __local real *gain = local_malloc(2 * LEAVES * sizeof(real));
    __local uint *ties = local_malloc(2 * LEAVES * sizeof(uint));
    __local real *minutes_next = local_malloc(RESOURCES * sizeof(real));
    __local real *experienced = local_malloc(RESOURCES * sizeof(real));
    __local int *holding = local_malloc(RESOURCES * sizeof(int));
    __local real *left = local_malloc(RESOURCES * sizeof(real));
    __local int *source = local_malloc(RESOURCES * sizeof(int));
    __local real *learned = local_malloc(SOURCES * sizeof(real));
    __local real *speed = local_malloc(SOURCES * sizeof(real));
    __local int *units_from = local_malloc(SOURCES * sizeof(int));
    __local real *next_gain = local_malloc(FRONT * AHEAD * sizeof(real));
    __local uint *which = local_malloc(FRONT * sizeof(uint));
    __local uint *known = local_malloc(FRONT * sizeof(uint));
    __local uint *used = local_malloc(FRONT * sizeof(uint));
    __local uint *going = local_malloc(sizeof(uint));
    __global real *spent = rows + (society * AGENTS + agent) * SOURCES * RESOURCES;

    look_at_all(WORK, TREE);
    for (uint i = LANE; i < FRONT; i += LANES) {
        which[i] = i;
        used[i] = 0;
    }
    // All leaves, before their parents are formed; rows, before one work-item works.
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    fill_trees(TREE, 1, leaves);
    day_t day = {0.0, 0.0, 0.0, 0.0, {0.0, 0}, {0, 0}};  // work-item 0 walks it
    front_t front;
    front.open = false;
    front.wait = 0;
    if (LANE == 0) day = begin_day(WORK, TREE);
    uint more;
    do {
        count_taken(WORK, AHEAD_OF);
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all that was taken
        look_ahead(WORK, AHEAD_OF);
        group_barrier(CLK_LOCAL_MEM_FENCE);  // what is ahead, before the day continues
        if (LANE == 0) {
            walk_front(WORK, TREE, AHEAD_OF, &day, &front);
            *going = day.time < day.end;
        }
        group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // what was taken
        more = *going;
    } while (more);
    count_taken(WORK, AHEAD_OF);
    if (LANE == 0) end_of_work(WORK, day);
    // units of the day, before they are stored
    group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    practise(WORK);
    store_devices(WORK);
    uint row = 0;
    do {
        const real total = reduce_sum_global(spent + row * RESOURCES, resources);
        store_source(WORK, row, total);
    } while (++row < SOURCES);
}

__kernel void extraction_by_front(STATE_PARAMETERS, TABLE_PARAMETERS, __global real *rows)
{
    extract_by_front(STATE, TABLES, rows, get_group_id(0) / AGENTS, get_group_id(0) % AGENTS);
}
#endif
