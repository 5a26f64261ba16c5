"""Societies of the reference for tests that set a state by hand and look at one rule."""

from reference_py.economy.society import new_society
from reference_py.economy.streams import seed_streams
from societies import config_from_dict
from societies.economy.parameters import parameters

SMALL = {"resources_in_tool": 2, "components": 2}


def started(*, agents=4, resources=5, **settings):
    """Return parameters and a society with devices before day 1."""
    config = {"workload": "economy", "agents": agents, "resources": resources, "devices": "all"}
    config |= {"device": SMALL, **settings}
    p = parameters(config_from_dict(config))
    s = new_society(p)
    seed_streams(p, s)
    return p, s


def recipe(s, device, resource, *parts):
    """Give the device a recipe."""
    slots = len(s.recipe[device][resource])
    s.recipe[device][resource] = [*parts, *[-1] * (slots - len(parts))]


def tools(s, recipes):
    """Give every resource of ``recipes`` a tool of these components, known to all agents."""
    for r, parts in recipes.items():
        recipe(s, 0, r, *parts)
        for experience in s.device_experience:
            experience[0][r] = 6.0


class Draws:
    """A stream in which every draw is given: ``below`` takes whole numbers, ``uniform`` reals.

    ``asked`` holds what ``below`` was asked for.
    """

    def __init__(self, *draws):
        self.draws, self.asked = list(draws), []

    def below(self, n):
        drawn = self.draws.pop(0)
        self.asked.append(n)
        assert 0 <= drawn < n
        return drawn

    def uniform(self):
        return self.draws.pop(0)
