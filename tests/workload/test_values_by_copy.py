"""Can each value of each workload differ between copies of a launch, and change during a run?

The economy's values are in tests/parity/test_parameter_tables.py and test_interventions.py.
"""

import re
from functools import cache
from typing import get_args

import numpy as np
import pytest
from small import keys_of, names, small, tried

from societies import choose_device
from societies.config import model as declared
from societies.config.model import INITIAL, SHAPE, TABULATED, VALUE
from societies.errors import ConfigError
from societies.sweep.document import load_sweep
from societies.sweep.points import checked_points, sweep_points
from societies.workload.running.engines import DeviceEngine, ReferenceEngine
from societies.workload.running.points import with_table
from societies.workload.running.registry import workload
from societies.workload.running.varying import (
    ONLY_AT_FIRST,
    SHARED,
    SHARED_SHAPE,
    NotVarying,
    found_key,
    takes_whole_numbers,
    varying,
)

FORMS = {
    ("bam", "buffer_h"): {"buffer": True, "seed": 2},
    ("havannah_search", "exploration"): {"moves": "", "leaves": 40},
    ("laplace", "ratio"): {"method": "heat"},
    ("laplace", "omega"): {"method": "sor", "omega": 1.8},
    ("laplace", "conductor.0.value"): {"conductor": [{"rows": [2, 3], "columns": [2, 5]}]},
    ("raytracer", "camera"): {"shading": "seed"},
    ("raytracer", "look_at"): {"look_at": [3.0, 0.2, 0.1]},
    ("raytracer", "up"): {"look_at": [3.0, 0.2, 0.1]},
    ("raytracer", "ambient"): {"ambient": 0.2},
    ("raytracer", "background"): {"background": [90.0, 130.0, 180.0]},
    ("raytracer", "falloff"): {"falloff": 0.5},
    ("raytracer", "fog"): {"shading": "seed", "fog": 0.03},
}
"""Settings with which a key has an effect, if the small configuration has others."""

OTHERS = {
    ("bam", "min_wage_every"): 1,
    ("bam", "sigma_min"): 0.05,
    ("kirman_ants", "own"): 0.3,
    ("laplace", "border"): 0.7,
    ("laplace", "tolerance"): 0.05,
    ("havannah_search", "exploration"): 9.0,
    ("raytracer", "camera"): (-1.0, 0.4, 0.2),
    ("raytracer", "look_at"): (3.0, 1.0, 0.0),
    ("raytracer", "up"): (0.0, 1.0, 2.0),
    ("raytracer", "background"): (10.0, 200.0, 30.0),
}
"""Values to change to, if not half the value of the small configuration."""

TICKS = 6


def values(name):
    """Return the keys of a workload that may differ between copies."""
    found = [key for key, kind in keys_of(workload(name).config) if kind in KINDS]
    return found + [key for of, key in FORMS if of == name and key not in found]


KINDS = (VALUE, TABULATED, INITIAL)
CASES = [(name, key) for name in tried() if name != "economy" for key in values(name)]


def settings_of(name, key):
    """Return the settings of the small configuration with which a key has an effect."""
    return FORMS.get((name, key), {})


def of_two(name, key):
    """Return a configuration, the present value of a key and another one."""
    config = small(name, **settings_of(name, key))
    now = config.model_dump()
    for part in key.split("."):
        now = now[int(part) if part.isdigit() else part]
    if (name, key) in OTHERS:
        return config, now, OTHERS[name, key]
    return config, now, now // 2 if type(now) is int else now / 2


def companions(name, key):
    """Return the keys that are tried with the same settings, and so by one program."""
    chosen = settings_of(name, key)
    return tuple(one for of, one in CASES if of == name and settings_of(name, one) == chosen)


def changeable(name, key):
    """Return whether a key is read after the first tick, so that an intervention may change it."""
    config = small(name, **settings_of(name, key)).model_dump(exclude_unset=True)
    return found_key(workload(name).config, config, key)[1] != INITIAL


@cache
def device():
    return choose_device("auto")


BUILT = {}
"""The program of each table of a workload: another value must not need another program."""


def state_of(config, keys=(), engine=DeviceEngine):
    """Return the state after some ticks, and whether the program of these keys was used again."""
    chosen = workload(config.workload)
    p, more, kind = chosen.parameters(config), {}, (config.workload, keys)
    if engine is DeviceEngine:
        more = {"device": device(), "like": BUILT.get(kind)}
    first, copies = chosen.first(config), chosen.count(config)
    made = engine(chosen, p, first=first, copies=copies, **more)
    again = made.built is not None and made.built is BUILT.get(kind)
    if keys and engine is DeviceEngine:
        BUILT[kind] = made.built
    made.start()
    made.run_ticks(1, TICKS)
    return made.state(), again


def same(one, other):
    """Return whether all arrays that are compared are equal."""
    return all(np.array_equal(one[name], other[name], equal_nan=True) for name in one)


@cache
def results(name):
    """Return the names of the arrays that are results."""
    chosen = workload(name)
    fields = chosen.arrays(chosen.parameters(small(name)))  # translates all phases of a model
    return {key for key, field in fields.items() if field.compared}


def compared(name, state, copy):
    """Return the arrays of one copy that are results."""
    return {key: array[copy] for key, array in state.items() if key in results(name)}


@pytest.mark.parametrize("name", names())
def test_a_key_may_differ_or_the_refusal_says_why(name):
    model, data = workload(name).config, small(name).model_dump()
    reasons = {SHAPE: f"is a shape, which sizes arrays or chooses code: {SHARED_SHAPE}", "": SHARED}
    for key, kind in keys_of(model):
        if found_key(model, data, key)[2] is not None:  # a list of sections
            continue
        if kind in KINDS:
            assert varying(model, data, key) == tuple(key.split("."))
        else:
            with pytest.raises(NotVarying) as why:
                varying(model, data, key)
            assert str(why.value) == reasons[kind]


@cache
def of_table(name, keys):
    """Return a table, and the states of device and reference that it leads to.

    Copy 0 has the present values of all keys, each other copy another value of one key.
    """
    table = {}
    for number, key in enumerate(keys, start=1):
        config, now, other = of_two(name, key)
        table[key] = [other if copy == number else now for copy in range(len(keys) + 1)]
    given = with_table(config, table)
    return table, *(state_of(given, keys, one)[0] for one in (DeviceEngine, ReferenceEngine))


@cache
def of_constants(name, keys):
    """Return the states of as many copies that all have the present values."""
    config = small(name, **settings_of(name, keys[0]), replicates=len(keys) + 1)
    return state_of(config)[0]


@cache
def of_interventions(name, keys):
    """Return the states of device and reference if an intervention changes each key in one copy.

    Copy 0 is not changed.
    """
    chosen = workload(name)
    section = get_args(chosen.config.model_fields["interventions"].annotation)[0]
    *_, copies = section.model_fields
    changes = [
        {chosen.clock: 2, copies: [number], "set": {key: of_two(name, key)[2]}}
        for number, key in enumerate(keys, start=1)
    ]
    settings = settings_of(name, keys[0])
    config = small(name, **settings, replicates=len(keys) + 1, interventions=changes)
    return [state_of(config, engine=one)[0] for one in (DeviceEngine, ReferenceEngine)]


@pytest.mark.sample
@pytest.mark.parametrize(("name", "key"), CASES)
def test_two_copies_with_different_values_are_two_runs_alone(name, key):
    config, _, _ = of_two(name, key)
    keys = companions(name, key)
    table, together, reference = of_table(name, keys)
    number = keys.index(key) + 1
    for copy in (0, number):
        values = {one: [column[copy]] for one, column in table.items()}
        first = {f"first_{workload(name).copies}": copy}
        state, again = state_of(with_table(config.model_copy(update=first), values), keys)
        assert again, "another value has built another program"
        assert same(compared(name, together, copy), compared(name, state, 0))
        assert same(*(compared(name, one, copy) for one in (together, reference)))
    unchanged = of_constants(name, keys)
    assert same(*(compared(name, one, 0) for one in (together, unchanged)))
    assert not same(*(compared(name, one, number) for one in (together, unchanged)))


@pytest.mark.parametrize(("name", "key"), CASES)
def test_a_value_changes_during_a_run_or_the_refusal_says_why_not(name, key):
    if not changeable(name, key):
        with pytest.raises(ConfigError, match=re.escape(ONLY_AT_FIRST)):
            of_interventions(name, (key,))
        return
    keys = tuple(one for one in companions(name, key) if changeable(name, one))
    device, reference = of_interventions(name, keys)
    number = keys.index(key) + 1
    unchanged = of_constants(name, keys)
    assert same(*(compared(name, one, number) for one in (device, reference)))
    assert same(*(compared(name, one, 0) for one in (device, unchanged)))
    assert not same(*(compared(name, one, number) for one in (device, unchanged)))


@pytest.mark.parametrize(("name", "key"), CASES)
def test_a_sweep_over_a_value_is_one_launch(name, key):
    config, now, other = of_two(name, key)
    base = config.model_dump(mode="json", exclude_unset=True)
    sweep = load_sweep({"base": base, "vary": {"grid": {key: [now, other]}}})
    points, places = sweep_points(sweep)
    assert len(points) == 2
    assert [one.points for one in checked_points(sweep, points, places, copies=2)] == [[0, 1]]


def test_what_decides_the_number_of_ticks_is_refused_in_plain_words():
    config = small("laplace", steps=None)
    with pytest.raises(ConfigError, match="all copies of a launch have the same number: set steps"):
        with_table(config, {"tolerance": [5e-3, 1e-4]})


def test_the_type_of_a_key_says_whether_its_numbers_are_whole():
    whole = ["agents", "seed", "trading.rounds", "record.checkpoint", "record.keep"]
    real = ["day_length", "consumption.resource_lifetime", "trading.meeting", "record.measures"]
    model = type(small("economy"))
    found = {key for key in [*whole, *real] if takes_whole_numbers(model, key)}
    assert found == {*whole}

    class Either(declared.Section):
        number: int | float = declared.key(1, "of either kind")

    assert not takes_whole_numbers(Either, "number")
