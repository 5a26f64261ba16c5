// team.cl: several pieces of work side by side in a workgroup, each with work-items of its own.
//
// A piece of work that keeps few work-items busy leaves most of a GPU's warp idle. So a workgroup
// may take up to TEAMS pieces at once and shares its work-items out among them. All teams go
// through the same barriers; one that has nothing to do, or is done, rests: its work-items have the
// lane NONE, which is beyond every bound and is not the first, so loops over lanes and what lane 0
// does alone are not run. Results never depend on the number of teams. No local memory.
//
// Twin: none; nothing is computed here.

#ifndef ECONOMY_TEAM_CL
#define ECONOMY_TEAM_CL

#include "primitives/group.cl"

#ifndef TEAMS
#define TEAMS 1
#endif

// Position of a work-item: its team, the number of teams, its number in the team, and how many
// work-items the team has.
typedef struct {
    uint slot, teams, lane, lanes;
} team_t;

// The team of a work-item if `teams` share the workgroup, at most TEAMS and at most LANES of them.
// Work-items that are left over rest.
static team_t team_of(const uint teams)
{
    const uint lanes = LANES / teams, slot = LANE / lanes;
    const bool over = slot >= teams;
    const team_t own = {over ? 0 : slot, teams, over ? NONE : LANE % lanes, lanes};
    return own;
}

// The same team, at rest.
static team_t resting(const team_t team)
{
    const team_t own = {team.slot, team.teams, NONE, team.lanes};
    return own;
}

#endif
