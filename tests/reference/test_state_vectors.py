"""Does the reference trade resources in every recorded meeting as the peer did?

Integers must be equal, reals to 1e-9 relative. All other kinds: test_device_vectors.py.
"""

import pytest
from recorded import RECORDED, load, same, setting, society

from reference_py.economy.trading import meet


@pytest.mark.sample
@pytest.mark.parametrize("name", RECORDED)
def test_resource_trades(name):
    p = setting(name)
    vectors = load(name, "resource_trade")
    assert vectors
    for v in vectors:
        a, b = v["before"]["A"]["id"], v["before"]["B"]["id"]
        s = society(name, [v["before"]["A"], v["before"]["B"]], v)
        meet(p, s, a, b)
        after = v["after"]
        for side, agent in (("A", a), ("B", b)):
            assert s.held[agent] == after[side]["held"]
            same(s.value[agent], after[side]["cache"])
        assert s.units_sold[a] == after["sold_by_A"]
        assert s.units_sold[b] == after["sold_by_B"]
        assert s.deals[a] == after["n_trades"]
