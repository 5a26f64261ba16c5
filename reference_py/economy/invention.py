"""Who invents what? Every agent has one attempt a day, in random order.

Source: docs/model.md, "Invention". An agent tinkers with the resources it knows best and some that
it holds; the more experience with them, the likelier it finds how to make a tool for one of them.
When there is no tool to be found it tries higher devices in the same way. Later agents see what
earlier ones found. Success means that a uniform number of 53 bits is below the probability.
Device twin: ``kernels/economy/invention.cl``.
"""

from reference_py.economy.devices import (
    COMPONENT,
    DEVICE_FACTORY,
    DEVICE_MACHINE,
    FACTORY,
    INDUSTRY,
    MACHINE,
    TOOL,
    TYPES,
    has_recipe,
    is_known,
)
from reference_py.economy.knowledge import know_components
from reference_py.economy.listener import notify
from reference_py.economy.streams import drawing

NEXT = {MACHINE: FACTORY, FACTORY: INDUSTRY, DEVICE_MACHINE: DEVICE_FACTORY}
"""Type to try next if nothing of a type is left to invent."""


def invention(p, s, day):
    """Let every living agent try once."""
    for agent in range(p.agents):
        if s.alive[agent]:
            know_components(p, s, agent)
    known = [
        [is_known(s, device_type, r) for r in range(p.resources)] for device_type in range(TYPES)
    ]
    order = list(range(p.agents))
    with drawing(p, s, p.agents, "invention_order") as rng:
        for i in range(p.agents - 1, 0, -1):
            j = rng.below(i + 1)
            order[i], order[j] = order[j], order[i]
    for agent in order:
        if s.alive[agent]:
            with drawing(p, s, agent, "invention") as rng:
                found = attempt(p, s, agent, known, rng)
            if found is not None and found[1] != p.banned_of:
                establish(p, s, agent, known, day, *found)


def attempt(p, s, agent, known, rng):
    """Return the (device_type, resource, components) that the agent invents, or None.

    ``known`` says by type and resource what any agent knows; ``rng`` has ``below`` and ``uniform``.
    """
    considered = tool_ingredients(p, s, agent, rng)
    if considered is None:
        chance(p, s, agent, TOOL, [], [])
        return None
    open_ = untaken(s, TOOL, considered, known)
    success = chance(p, s, agent, TOOL, considered, open_)
    if open_:
        if not rng.uniform() < success:
            return None
        target = open_[rng.below(len(open_))]
        return TOOL, target, [r for r in considered if r != target]
    if p.devices.tools_only:
        return None
    device_type = MACHINE if rng.below(2) == 0 else DEVICE_MACHINE
    while device_type is not None:
        considered = device_ingredients(p, s, agent, device_type, known, rng)
        open_ = untaken(s, device_type, considered, known)
        success = chance(p, s, agent, device_type, considered, open_)
        if open_:
            if not rng.uniform() < success:
                return None
            return device_type, open_[rng.below(len(open_))], considered
        device_type = NEXT.get(device_type)
    return None


def tool_ingredients(p, s, agent, rng):
    """Return one resource more than a tool needs, ascending, or None if too few can be had.

    They are the two of most experience, held or not, and others of which the agent holds enough.
    """
    first = most_experienced(s.experience[agent], set())
    second = most_experienced(s.experience[agent], {first})
    eligible = [
        r
        for r in range(p.resources)
        if s.available[r] and s.held[agent][r] > p.min_held and r not in (first, second)
    ]
    drawn = p.resources_in_tool - 1
    if len(eligible) < drawn:
        return None
    return sorted([first, second, *(eligible.pop(rng.below(len(eligible))) for _ in range(drawn))])


def device_ingredients(p, s, agent, device_type, known, rng):
    """Return the components to try for a device of the type, ascending; none if too few are known.

    They are the two that the agent has made most, then others that it knows, then those that only
    others know.
    """
    below = COMPONENT[device_type]
    experience = s.device_experience[agent][below]
    living = [r for r in range(p.resources) if s.available[r]]
    mine = [r for r in living if experience[r] > 0.0]
    others = [
        r for r in living if experience[r] <= 0.0 and has_recipe(s, below, r) and known[below][r]
    ]
    if max(experience) <= 0.0 or len(mine) + len(others) < p.components:
        return []
    taken = []
    for _ in range(2):
        best = most_experienced(experience, set(taken))
        if experience[best] > 0.0:
            taken.append(best)
            if best in mine:
                mine.remove(best)
    while len(taken) < p.components:
        source = mine or others
        taken.append(source.pop(rng.below(len(source))))
    return sorted(taken)


def most_experienced(experience, taken):
    """Return the index of most experience that is not taken, the lowest among equals."""
    left = [r for r in range(len(experience)) if r not in taken]
    return max(left, key=lambda r: (experience[r], -r))


def untaken(s, device_type, considered, known):
    """Return the resources whose device may be invented: it is unknown or forgotten."""
    return [r for r in considered if not has_recipe(s, device_type, r) or not known[device_type][r]]


def summed(experience, considered):
    """Return the experience in all candidates, added up in ascending order."""
    total = 0.0
    for r in considered:
        total += experience[r]
    return total


def chance(p, s, agent, device_type, considered, open_):
    """Report an attempt, and return the probability of finding an open device; it may exceed 1."""
    probability, known = p.tool_probability, s.experience[agent]
    if device_type != TOOL:
        probability = p.device_probability
        known = s.device_experience[agent][COMPONENT[device_type]]
    experience = summed(known, considered)
    result = probability * experience * p.devices.inventiveness[p.group_of_agent[agent]]
    notify(
        s,
        "attempt",
        agent=agent,
        device_type=device_type,
        considered=considered,
        open=open_,
        experience=experience,
        probability=min(1.0, result),
    )
    return result


def establish(p, s, agent, known, day, device_type, resource, parts):
    """Make the invention the recipe of the society; it replaces one that no agent knows."""
    slots = [-1] * (p.component_slots - len(parts))
    s.recipe[device_type][resource] = [*parts, *slots]
    notify(s, "invented", agent=agent, device_type=device_type, resource=resource, parts=parts)
    s.invented_on[device_type][resource] = day
    s.inventor[device_type][resource] = agent
    s.inventions.append((day, agent, device_type, resource, *s.recipe[device_type][resource]))
    for other in range(p.agents):
        s.device_experience[other][device_type][resource] = 0.0
        s.practised[other][device_type][resource] = 0
    s.device_experience[agent][device_type][resource] = p.inventor_experience
    s.practised[agent][device_type][resource] = 1
    known[device_type][resource] = True
    if device_type != TOOL:
        below = s.device_experience[agent][COMPONENT[device_type]]
        for k in parts:
            below[k] = max(1.0, below[k])
            known[COMPONENT[device_type]][k] = True
