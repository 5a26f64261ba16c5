"""Does the ODD of a model follow the protocol, and name all keys, phases and state variables?

What must be named is taken from the models and the reference, not from docs/tables.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reference_py.economy import state
from reference_py.economy.schedule import order
from societies import config_from_dict
from societies.config.model import Section
from societies.workload.running.registry import workload

DOCS = Path(__file__).resolve().parents[2] / "docs"
PROTOCOL = """1 Purpose and patterns; 2 Entities, state variables, and scales;
3 Process overview and scheduling; 4 Design concepts; 4.1 Basic principles; 4.2 Emergence;
4.3 Adaptation; 4.4 Objectives; 4.5 Learning; 4.6 Prediction; 4.7 Sensing; 4.8 Interaction;
4.9 Stochasticity; 4.10 Collectives; 4.11 Observation; 5 Initialization; 6 Input data;
7 Submodels"""
"""Headings of Grimm and others (2020), table 1."""

EVERYTHING: dict[str, Any] = {
    "devices": "all",
    "trading": {"fresh_values": True},
    "endowment": {"units": 1},
    "replicates": 2,
    "fan": {"day": 1, "futures": 2},
    "draws": {"synchronized": True},
    "shocks": [{"day": 3, "remove": "agent", "index": 0}],
    "policies": {"transfer": {"equal": 1.0}},
    "record": {"measures": True, "network": [1]},
}


PAGES = {"economy": "odd-economy.md", "bam": "bam.md"}
"""Pages with an ODD. That of BAM has further sections, which have no number."""


def page(name: str) -> str:
    return (DOCS / PAGES[name]).read_text()


def rows(name: str, part: str) -> set[str]:
    """Return the names in the first column of a table of the page."""
    found = re.search(rf"<!-- begin: odd-{name}-{part} -->(.*?)<!-- end", page(name), re.S)
    assert found
    return set(re.findall(r"^\| `(\S+)` \|", found[1], re.M))


@pytest.mark.parametrize("name", ["economy", "bam"])
def test_headings_are_those_of_the_protocol(name):
    wanted = " ".join(PROTOCOL.split()).split("; ")
    found = re.findall(r"^##+ ([\d.]+ .+)$", page(name), re.M)
    assert [one for one in found if not one.startswith("7.")] == wanted


@pytest.mark.parametrize("name", ["economy", "bam"])
def test_every_key_stands_in_the_page(name):
    def keys(section: Any, prefix: str) -> set[str]:
        found = set()
        for key, field in section.model_fields.items():
            inner = [
                one
                for one in re.findall(r"[\w.]+", str(field.annotation))
                if isinstance(section_of(one), type)
            ]
            found |= {f"{prefix}{key}"} if not inner else set()
            for one in inner:
                many = (
                    "[]"
                    if "list" in str(field.annotation) or "tuple" in str(field.annotation)
                    else ""
                )
                found |= keys(section_of(one), f"{prefix}{key}{many}.")
        return found

    def section_of(words: str) -> Any:
        module, _, last = words.rpartition(".")
        if not module.startswith("societies."):
            return None
        cls = getattr(__import__(module, fromlist=[last]), last, None)
        return cls if isinstance(cls, type) and issubclass(cls, Section) else None

    wanted = keys(workload(name).config, "")
    assert len(wanted) > 50
    assert wanted <= rows(name, "keys")


@pytest.mark.parametrize("name", ["economy", "bam"])
def test_every_phase_stands_in_the_page_and_in_its_schedule(name):
    one = workload(name)
    if name == "economy":
        p = one.parameters(config_from_dict({"workload": name, **EVERYTHING}))
        wanted = {step.function.__name__ for day in (0, 1, 3) for step in order(p, day)}
    else:
        wanted = {*one.start, *one.day}
    assert wanted <= rows(name, "phases")
    text = page(name).partition("## 3 ")[2].partition("<!-- begin")[0]
    assert not [phase for phase in wanted if f"`{phase}`" not in text]


def test_every_state_variable_of_the_economy_stands_in_the_page():
    parts = [value for key, value in vars(state).items() if key.endswith("STATE")]
    wanted = set().union(*parts)
    assert len(parts) == 10
    assert wanted <= rows("economy", "state")


def test_every_state_variable_of_bam_stands_in_the_page():
    one = workload("bam")
    p = one.parameters(config_from_dict({"workload": "bam"}))
    assert set(one.fields(p)) <= rows("bam", "state")


def test_every_series_of_bam_stands_in_the_page_with_its_definition():
    series = workload("bam").series(config_from_dict({"workload": "bam"}))
    found = re.search(r"<!-- begin: bam-series -->(.*?)<!-- end", page("bam"), re.S)
    assert found
    stands = {tuple(row) for row in re.findall(r"^\| `(\S+)` \| (.+) \| (.+) \|$", found[1], re.M)}
    assert stands == {(name, one.unit, one.meaning) for name, one in series.items()}


def test_every_equation_of_bam_has_a_source():
    """A section of the book, bam-engine, or this model."""
    text = page("bam").partition("### 7.1 ")[2].partition("### 7.8 ")[0]
    rows = [row for row in re.findall(r"^\| (.+) \| (.+) \|$", text, re.M) if row[1] != "source"]
    assert len(rows) > 30
    for equation, source in rows:
        assert re.search(r"\b3\.\d|engine|here", source), equation


def test_submodels_of_bam_name_every_key_that_chooses_a_rule_or_changes_a_number():
    text = page("bam").partition("## 5 ")[2].partition("### 7.9 ")[0]
    keys = [
        name
        for name, field in workload("bam").config.model_fields.items()
        if (field.json_schema_extra or {}).get("kind") and name not in SIZES
    ]
    assert len(keys) > 40
    assert not [key for key in keys if f"`{key}" not in text]


SIZES = ("firms", "households", "banks")
