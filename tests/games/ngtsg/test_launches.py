"""Do launches have as many workgroups as their nodes need, so that all cores have work?"""

import pytest

from societies import config_from_dict
from societies.games.chess import WORKLOAD as CHESS
from societies.games.connect6 import WORKLOAD as CONNECT6
from societies.games.tictactoe import WORKLOAD as TICTACTOE


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("game", [CONNECT6, CHESS, TICTACTOE], ids=lambda game: game.name)
def test_a_cpu_has_no_workgroups_without_a_node(game, copies):
    """A core takes hundreds at a time; if most were idle, one core would have all the work."""
    batch = {"leaves": 5000, "branches": 700}
    p = game.parameters(config_from_dict({"workload": game.name, "batch": batch}))
    phases = game.phases(p, copies)
    for name, nodes in (("branch", 700), ("evaluate", 5000)):
        (launch,) = phases[name].on(True).launches
        assert nodes <= launch.groups // copies * launch.items < nodes + launch.items
        assert launch.groups % copies == 0


def test_on_a_gpu_a_position_of_connect6_has_a_workgroup():
    batch = {"leaves": 3000, "branches": 700}
    p = CONNECT6.parameters(config_from_dict({"workload": "connect6", "batch": batch}))
    phases = CONNECT6.phases(p, 1)
    for name, nodes in (("branch", 700), ("evaluate", 3000)):
        (launch,) = phases[name].on(False).launches
        assert launch.groups == nodes
