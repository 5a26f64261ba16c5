"""Which resource or agent does a shock remove from a society at the end of a day?

Source: docs/model.md, "Shocks". What a random shock removes is drawn on day 0.
Device twin: ``kernels/economy/shocks.cl``.
"""

from reference_py.economy.devices import TYPES
from reference_py.economy.listener import notify
from reference_py.economy.parameters import LOSE, RANDOM_INDEX, REMOVE_NOTHING, REMOVE_RESOURCE
from reference_py.economy.state import arrays, filled, sizes
from reference_py.economy.streams import drawing


def draw_shocks(p, s):
    """Choose the targets of random shocks among those that no other shock removes."""
    taken = {(shock.remove, shock.index) for shock in p.shocks if shock.index != RANDOM_INDEX}
    with drawing(p, s, p.agents, "shocks") as rng:
        for i, shock in enumerate(p.shocks):
            if shock.remove == REMOVE_NOTHING:
                continue
            target = shock.index
            if target == RANDOM_INDEX:
                count = p.resources if shock.remove == REMOVE_RESOURCE else p.agents
                left = [x for x in range(count) if (shock.remove, x) not in taken]
                target = left[rng.below(len(left))]
                taken.add((shock.remove, target))
            s.shock_target[i] = target


def shocks(p, s, day):
    """Carry out the shocks of the end of this day, in the order of the list."""
    for i, shock in enumerate(p.shocks):
        if shock.day != day or shock.remove == REMOVE_NOTHING:
            continue
        if shock.remove == REMOVE_RESOURCE:
            remove_resource(p, s, s.shock_target[i], shock.holdings == LOSE)
            notify(s, "removed", what="resource", index=s.shock_target[i])
        else:
            remove_agent(p, s, s.shock_target[i])
            notify(s, "removed", what="agent", index=s.shock_target[i])


def remove_resource(p, s, resource, lose):
    """Make the resource impossible to extract; ``lose``: holdings and knowledge of it are lost.

    Devices for it are of no use and disappear; recipes, knowledge and promises stay.
    """
    s.available[resource] = 0
    if p.devices is not None:
        for agent in range(p.agents):
            for device_type in range(TYPES):
                s.device_minutes[agent][device_type][resource] = 0.0
    if lose:
        for agent in range(p.agents):
            s.held[agent][resource] = 0
            s.experience[agent][resource] = 0.0
        if p.policies:
            s.fund[resource] = 0.0


def remove_agent(p, s, agent):
    """Reset all that belongs to the agent; its number stays in the pairings."""
    lengths = sizes(p)
    for name, array in arrays(p).items():
        if array.of_agent:
            getattr(s, name)[agent] = filled(array, [lengths[dim] for dim in array.dims[1:]])
    s.alive[agent] = 0
