"""Do lists of partners say what tables of agent x partner said: are the states the same as before?

The hashes below were those of the golden configurations with devices while ``partner_memory`` and
``met`` were tables (CHANGELOG, "Partners remembered and met are lists"). The tables are made again
from the lists, and the state hashed with them.
"""

import pytest
from marks import thorough_but
from partners import hash_with_tables
from test_golden import golden

from societies.workload.running.registry import workload

BEFORE = {
    "tools": "8ccffdc0f5c0c07d56798cbc3b154c5ac1cf4c5c9383be35fd9be726ec5c65db",
    "all devices": "b82a2196620756de792823c5542d006ca59773253779dcf4d598362b50e5f504",
    "devices, groups, shocks": "5d6fd01e7ef6a1741c5c32946c10cd88a94cb24dc3ea877932a8d5f0612f4c16",
    "devices without trade": "4ad5b9cb1a9c2618f0f5c83c33da261931608826eae2ca25b3be8cd25ad2d26f",
}


def test_what_is_compared_has_devices():
    """Without any there are no partners; configurations that came later have no hash of before."""
    assert all(golden.configuration(name).devices != "none" for name in BEFORE)


@pytest.mark.ci
@pytest.mark.parametrize("name", thorough_but(["devices, groups, shocks"], BEFORE))
def test_tables_made_of_the_lists_have_the_hash_of_before(name):
    engine = golden.ran(name, "reference")
    p = workload("economy").parameters(golden.configuration(name))
    assert hash_with_tables(p, engine.state()) == BEFORE[name]
    if name in ("all devices", "devices, groups, shocks"):  # where partners are remembered
        assert (engine.state()["remembered_partner"] >= 0).any()
