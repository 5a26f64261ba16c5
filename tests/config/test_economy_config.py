"""Is a resolved configuration complete, frozen, and the same after it was written and read?"""

import json
import subprocess
import sys

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from societies import config_from_dict, json_schema, load_config
from societies.config import to_yaml
from societies.config.model import Section
from societies.economy.config import EconomyConfig
from societies.economy.config.conflicts import PER_RESOURCE
from societies.economy.config.groups import (
    ConsumptionOverrides,
    DeviceOverrides,
    EndowmentOverrides,
    ExtractionOverrides,
    UtilityOverrides,
)
from societies.errors import ConfigError


def real(low, high):
    return st.floats(low, high, allow_nan=False)


@st.composite
def economies(draw):
    agents, resources, days = (draw(st.integers(low, 9)) for low in (1, 2, 1))

    def per_resource(values):
        return values | st.lists(values, min_size=resources, max_size=resources)

    def some(keys):
        return st.fixed_dictionaries({}, optional=keys)

    utility = {"scale": per_resource(real(2, 1e6)), "exponent": per_resource(real(1.01, 9))}
    extraction = {
        "max_effort": per_resource(real(5, 50)),
        "min_effort": per_resource(real(0.5, 3)),
        "max_experience": per_resource(real(1, 1e5)),
    }
    consumption = {"resource_lifetime": per_resource(real(1, 15))}
    device = {
        "max_effort": per_resource(real(15, 50)),
        "min_effort": per_resource(real(0.5, 9)),
        "max_experience": per_resource(real(1, 1e5)),
    }
    names = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1)
    names = names | st.sampled_from(["on", "1e-3", "null", "~", "010", "y", "0x1", "a: b", "- #"])
    cuts = sorted(draw(st.lists(st.integers(1, max(1, agents - 1)), unique=True, max_size=3)))
    ends = [*[c for c in cuts if c < agents], agents]
    groups = []
    if draw(st.booleans()):
        for name, start, end in zip(
            draw(st.lists(names, unique=True, min_size=len(ends), max_size=len(ends))),
            [0, *ends],
            ends,
            strict=False,
        ):
            overrides = {"utility": some(utility), "extraction": some(extraction)}
            overrides |= {"consumption": some(consumption), "trade_power": real(0.1, 10)}
            overrides |= {"device": some(device), "device_trade_power": real(0.1, 10)}
            overrides |= {"inventiveness": real(0.1, 10)}
            groups.append({"name": name, "count": end - start, **draw(some(overrides))})
    indices = draw(st.lists(st.integers(0, resources - 1), unique=True, max_size=resources - 1))
    shocks = [
        {"day": draw(st.integers(0, days)), "remove": "resource", "index": index}
        | draw(some({"holdings": st.sampled_from(["keep", "lose"])}))
        for index in indices
    ]
    trading = {
        "menu_size": st.integers(1, resources),
        "rounds": st.integers(0, 99),
        "price": st.sampled_from(["geometric", "inverse_geometric", "unit"]),
        "fresh_values": st.booleans(),
        "min_surplus": real(0, 1),
    }
    two_or_all = st.sampled_from([2, resources])
    rest = {
        "seed": st.integers(0, 2**64 - 1),
        "day_length": real(1e-3, 1e3),
        "trade": st.booleans(),
        "trading": some(trading),
        "utility": some({**utility, "min_marginal": real(1e-9, 1)}),
        "extraction": some({**extraction, "near_best_band": real(0, 9)}),
        "consumption": some(consumption),
        "devices": st.sampled_from(["none", "tools"]),  # all: tables of some would be too long
        "devices_market": some({"rounds": st.integers(0, 99), "days_to_hold": real(0.1, 9)}),
        "device": some(
            {**device, "factor": some({"tool": real(1.1, 3)}), "components": two_or_all}
        ),
        "invention": some({"tool_probability": real(0, 1), "min_held": st.integers(0, 9)}),
        "record": some({"agent": st.integers(0, days), "checkpoint": st.integers(1, 9)}),
    }
    sizes = {"workload": "economy", "agents": agents, "resources": resources, "days": days}
    return {**sizes, "groups": groups, "shocks": shocks, **draw(some(rest))}


@pytest.mark.thorough
@given(economies())
def test_written_and_read_again_it_is_the_same(tmp_path_factory, data):
    config = config_from_dict(data)
    file = tmp_path_factory.getbasetemp() / "resolved.yaml"
    file.write_text(to_yaml(config), encoding="utf-8")
    assert load_config(file) == config
    dumped = config.model_dump(mode="json")
    assert config_from_dict(json.loads(json.dumps(dumped))) == config
    assert yaml.safe_load(to_yaml(config)) == dumped  # readers of YAML 1.1 see the same
    assert sum(config.group_sizes()) == config.agents


@pytest.mark.ci
@given(economies())
def test_what_is_valid_here_is_valid_for_an_editor(data):
    config = config_from_dict(data)
    schema = jsonschema.Draft202012Validator(SCHEMA)
    schema.validate(data)
    schema.validate(config.model_dump(mode="json"))


SCHEMA = json_schema("economy")


def test_everything_is_written_out():
    written = yaml.safe_load(to_yaml(EconomyConfig()))

    def compare(model, values):
        left_out = {"rules", "label", "model"} & set(model.model_fields)  # none by default
        assert set(values) == set(model.model_fields) - left_out
        for name in values:
            field = model.model_fields[name]
            if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
                compare(field.annotation, values[name])

    compare(EconomyConfig, written)


def test_frozen_and_hashable():
    config = config_from_dict({"workload": "economy", "utility": {"scale": [9.0] * 48}})
    again = config_from_dict({"workload": "economy", "utility": {"scale": [9] * 48}})
    assert hash(config) == hash(again)
    with pytest.raises(ValidationError):
        config.agents = 3
    with pytest.raises(ValidationError):
        config.trading.rounds = 3


def test_built_in_python_it_obeys_the_same_rules():
    with pytest.raises(ValidationError, match="5 resources"):
        EconomyConfig(resources=5, trading={"menu_size": 6})


def test_a_dictionary_may_hold_numpy_numbers():
    np = pytest.importorskip("numpy")
    data = {"workload": "economy", "agents": np.int64(3), "day_length": np.float32(0.5)}
    config = config_from_dict({**data, "utility": {"scale": np.full(48, 9.0)}})
    assert (config.agents, config.day_length) == (3, 0.5)
    assert config.utility.scale == (9.0,) * 48


@pytest.mark.parametrize(("resources", "menu"), [(2, 2), (5, 5), (6, 6), (48, 6)])
def test_a_menu_that_is_not_given_fits(resources, menu):
    assert (
        config_from_dict({"workload": "economy", "resources": resources}).trading.menu_size == menu
    )
    assert EconomyConfig(resources=resources, trading={"rounds": 1}).trading.menu_size == menu


@pytest.mark.parametrize(
    ("agents", "shares", "sizes"),
    [
        (48, [0.5, 0.5], [24, 24]),
        (5, [0.5, 0.5], [3, 2]),
        (10, [0.333, 0.333, 0.334], [3, 3, 4]),
        (7, [0.1, 0.2, 0.7], [1, 1, 5]),
        (10, [0.15, 0.35, 0.5], [2, 3, 5]),  # equal remainders as written, not as doubles
    ],
)
def test_shares_by_the_largest_remainder(agents, shares, sizes):
    groups = [{"name": str(g), "share": share} for g, share in enumerate(shares)]
    config = config_from_dict({"workload": "economy", "agents": agents, "groups": groups})
    assert config.group_sizes() == sizes


def test_without_groups_all_are_one():
    assert EconomyConfig(agents=7).group_sizes() == [7]


def test_what_a_shock_leaves_to_its_holder():
    shocks = [
        {"day": 1, "remove": "resource", "index": "random"},
        {"day": 1, "remove": "resource", "index": 2, "holdings": "lose"},
        {"day": 1, "remove": "agent", "index": 2},
    ]
    config = config_from_dict({"workload": "economy", "shocks": shocks})
    assert [shock.holdings for shock in config.shocks] == ["keep", "lose", None]


def test_groups_override_what_may_be_a_list():
    overrides = (
        UtilityOverrides,
        ExtractionOverrides,
        ConsumptionOverrides,
        DeviceOverrides,
        EndowmentOverrides,
    )
    assert list(PER_RESOURCE.values()) == [tuple(model.model_fields) for model in overrides]


def test_every_key_of_the_schema_says_meaning_unit_and_range():
    sections = [SCHEMA, *SCHEMA["$defs"].values()]
    for section in sections:
        assert section["additionalProperties"] is False
        assert section["description"]
        for name, key in section["properties"].items():
            assert key["description"], name
            text = json.dumps(key)
            if '"number"' in text or '"integer"' in text:
                assert key["unit"], name
                assert "inimum" in text, name
                assert "aximum" in text, name


def test_schema_of_no_workload():
    with pytest.raises(ConfigError, match="unknown workload 'x'"):
        json_schema("x")


def test_reading_a_configuration_opens_no_device():
    code = (
        "import sys; from societies import config_from_dict;"
        "config_from_dict({'workload': 'economy'}); assert 'pyopencl' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_holdings_that_could_not_be_counted_are_refused():
    """Found in review: such a run ended with negative holdings."""
    with pytest.raises(ConfigError, match=r"resource_lifetime: at 1000002 units a day .* counted"):
        config_from_dict(
            {
                "workload": "economy",
                "agents": 1,
                "resources": 2,
                "days": 2500,
                "day_length": 1e6,
                "extraction": {"max_effort": 1, "min_effort": 1},
                "consumption": {"resource_lifetime": 1e12},
            }
        )


@pytest.mark.parametrize("exponent", [1.1, 1.5, 2.0])
def test_the_exponents_of_the_paper_are_allowed(exponent):
    config_from_dict({"workload": "economy", "utility": {"exponent": exponent}})


def test_a_table_that_is_too_long_is_found_by_check():
    with pytest.raises(ConfigError, match=r"utility\.exponent: 1\.1 needs a table of more than"):
        config_from_dict(
            {
                "workload": "economy",
                "utility": {"exponent": 1.1, "min_marginal": 1e-9},
                "consumption": {"resource_lifetime": 500},
                "days": 2_000,
            }
        )
