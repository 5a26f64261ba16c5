"""Does a configuration record what targets need, what would record it, and as which dataset?"""

from types import SimpleNamespace

import numpy as np
import pytest

from societies.errors import ConfigError
from societies.study.recorded import dataset_of, require_recorded, require_statistics
from societies.study.simulate import sweep_of
from societies.study.targets import load_targets
from societies.sweep.batch import Result
from societies.workload.declare.protocol import Setup

SMALL = {"workload": "economy", "agents": 4, "resources": 4, "days": 6}


def setup(**keys):
    base = sweep_of({**SMALL, **keys}, {})
    return Setup(base.workload, base.base)


def targets(**statistics):
    said = {n: {"of": one} if isinstance(one, str) else one for n, one in statistics.items()}
    return load_targets({"statistics": said})[0]


def variable(none, *dims):
    return SimpleNamespace(dims=dims, none=none, units="units", long_name="what it is")


def test_values_of_a_batch_have_names_of_dimensions_and_what_stands_for_nothing_is_missing():
    values = {"sold": np.array([[3, -1], [0, 5]]), "free": np.array([[[-1], [2]], [[0], [-1]]])}
    shape = SimpleNamespace(
        variables={"sold": variable(-1, "day"), "free": variable(None, "day", "agent")},
        coordinates={
            name: SimpleNamespace(values=np.array(own))
            for name, own in {"day": [4, 8], "agent": [7], "resource": [0, 1]}.items()
        },
    )
    workload = SimpleNamespace(clock="day", copies="society")
    found = dataset_of(Result(values, {}, 0.0, ""), shape, workload)
    np.testing.assert_array_equal(found["sold"], [[3, np.nan], [0, 5]])
    np.testing.assert_array_equal(found["free"], values["free"])
    assert found["free"].dtype.kind == "i"
    assert found["sold"].dims == ("run", "day") and found["free"].dims == ("run", "day", "agent")
    assert {name: one.values.tolist() for name, one in found.coords.items()} == {
        "day": [4, 8],
        "agent": [7],
    }
    assert found["free"].attrs == {"units": "units", "long_name": "what it is"}
    assert found.attrs == {"clock": "day", "copies": "society"}


@pytest.mark.parametrize(
    ("of", "said"),
    [
        ("income", r"economy does not record 'income'; record.measures: true records it"),
        ("gini + agent_utility", r"record 'agent_utility'; record.agent: 1 records it"),
        ("ginni", r"economy does not record 'ginni'; did you mean 'gini'\?"),
        ("qqqqqqqq", r"record 'qqqqqqqq'; it records agents_alive, .*units_traded, utility, "),
    ],
)
def test_what_is_not_recorded_is_named_with_the_key_that_records_it(of, said):
    own = setup()
    with pytest.raises(ConfigError, match=said):
        require_recorded(targets(fine="gini", x=of), own)
    statistic = {"of": "gini", "statistic": "correlation", "against": of}
    with pytest.raises(ConfigError, match=said):
        require_recorded(targets(x=statistic), own)
    require_recorded(targets(x={**statistic, "against": "utility"}, y="gini - hhi"), own)


def test_what_is_recorded_with_a_key_is_available_with_it():
    require_recorded(
        targets(x="income - agent_utility"), setup(record={"measures": True, "agent": 2})
    )


def test_a_statistic_that_no_run_can_have_is_refused_before_any_is_run():
    own = setup()
    fine = targets(
        mean="gini",
        hhi={"of": "hhi", "at": {"quantile": 0.5}, "ticks": "3:6"},
        logarithm={"of": "units_extracted", "filter": ["log"]},
    )
    require_statistics(fine, own)
    for wrong, said in (
        ({"of": "hhi"}, "quantile"),
        ({"of": "gini", "ticks": "7:9"}, "7:9"),
    ):
        with pytest.raises(ConfigError, match=said):
            require_statistics(targets(x=wrong), own)
