"""Does a key that is declared in one line reach the schema, the kernels and the reference?"""

import re
from typing import Literal

import pytest
from pydantic import TypeAdapter

from societies.config.model import Section, key, shape, value
from societies.economy import source
from societies.economy.config import EconomyConfig
from societies.economy.config.devices import DeviceConfig
from societies.economy.config.resources import ExtractionConfig, TradingConfig
from societies.economy.parameters import parameters
from societies.sweep.document import SweepConfig
from societies.workload.running.registry import MODELS
from societies.workload.values.keys import shapes, symbols, values


class Extraction(ExtractionConfig):
    """With a further key."""

    haste: float = value(2, "How much faster agents work towards evening", "1/day", ge=0)


class Trading(TradingConfig):
    """With further keys."""

    stalls: int = shape(3, "Places at which agents meet", "places", ge=1, symbol="market_stalls")
    mood: Literal["calm", "hasty"] = shape("hasty", "How agents bargain")


class Seasons(Section):
    """A number for each season."""

    dry: float = value(0.5, "In the dry season", "1")
    wet: float = value(2, "In the wet season", "1")


class Device(DeviceConfig):
    """With a further row."""

    wear: Seasons = value(Seasons(), "How fast devices wear", symbol="device_wear")


class Config(EconomyConfig):
    """An economy with one more key of each kind."""

    extraction: Extraction = key(Extraction(), "How many minutes a unit takes")
    trading: Trading = key(Trading(), "How the resource market works")
    device: Device = key(Device(), "What devices take and bring")


def test_a_further_key_is_in_the_schema():
    schema = TypeAdapter(Config).json_schema()["$defs"]
    assert schema["Extraction"]["properties"]["haste"] == {
        "default": 2,
        "description": "How much faster agents work towards evening",
        "kind": "value",
        "minimum": 0,
        "title": "Haste",
        "type": "number",
        "unit": "1/day",
    }
    assert schema["Trading"]["properties"]["stalls"]["symbol"] == "market_stalls"


def test_a_further_key_is_in_the_kernels():
    p = parameters(Config())
    macros = source.macros(p)
    assert (macros["P_haste"], type(macros["P_haste"])) == (2.0, float)
    assert macros["MARKET_STALLS"] == 3
    assert (macros["MOOD"], macros["MOOD_CALM"], macros["MOOD_HASTY"]) == (1, 0, 1)
    row = re.search(r"__constant double device_wear\[2\] = \{(.*), (.*)\};", source.header(p))
    assert [float.fromhex(number) for number in row.groups()] == [0.5, 2.0]


def test_a_further_key_is_in_the_reference():
    p = parameters(Config(extraction=Extraction(haste=7.5), trading=Trading(mood="calm")))
    assert (p.haste, p.market_stalls, p.mood, p.device_wear) == (7.5, 3, "calm", (0.5, 2.0))
    assert p.values["haste"] == 7.5


def test_every_value_and_shape_has_one_name():
    config = EconomyConfig()
    names = [symbol for symbol, _, _ in symbols(config)]
    assert len(names) == len(set(names)) == len(values(config)) + len(shapes(config))
    assert values(config).keys() >= {"day_length", "min_surplus", "device_factor"}
    assert shapes(config).keys() >= {"agents", "resources", "attempts", "device_attempts"}


def test_two_keys_of_one_name_are_refused():
    class Clashing(ExtractionConfig):
        """A key of another section again."""

        min_surplus: float = value(1.0, "The name of a key of trading", "1")

    class Both(EconomyConfig):
        """Two keys of one name."""

        extraction: Clashing = key(Clashing(), "How many minutes a unit takes")

    with pytest.raises(TypeError, match="two keys are called min_surplus"):
        parameters(Both())


def test_a_key_with_the_name_of_a_table_is_refused():
    class Clashing(ExtractionConfig):
        """A key that a table is called after."""

        trade_power: float = value(1.0, "The name of a table", "1")

    class Both(EconomyConfig):
        """A key and a table of one name."""

        extraction: Clashing = key(Clashing(), "How many minutes a unit takes")

    with pytest.raises(ValueError, match="trade_power has two meanings"):
        parameters(Both())


def sections_of(model):
    """Yield a section by default of every key of a configuration, and of those within it."""
    for field in model.model_fields.values():
        if isinstance(field.default, Section):
            yield field.default
            yield from sections_of(type(field.default))


def test_a_section_that_is_not_given_is_that_of_an_empty_one():
    """It is made without its validator, which must neither refuse nor change a default."""
    models = [*(MODELS[name] for name in MODELS), SweepConfig]
    empty = [one for model in models for one in sections_of(model) if not one.model_fields_set]
    for one in empty:
        checked = type(one).model_validate({})
        assert (one, repr(one)) == (checked, repr(checked))
    assert len({type(one) for one in empty}) > 30
