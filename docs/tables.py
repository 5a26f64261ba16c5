"""Write the tables of the documentation that come from the code: keys, state, variables, workloads.

``python docs/tables.py`` rewrites what stands between the ``begin`` and ``end`` marks of the pages
in this folder; a test fails when a page is behind the code.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from reference_py.economy import schedule
from reference_py.economy.state import (
    DEVICE_STATE,
    GROUP_DEVICE_STATE,
    GROUP_STATE,
    MEASURE_DEVICE_STATE,
    MEASURE_POLICY_STATE,
    MEASURE_STATE,
    NETWORK_DEVICE_STATE,
    NETWORK_STATE,
    POLICY_STATE,
    STATE,
    Array,
)
from societies import config_from_dict, json_schema
from societies.config.model import (
    INITIAL,
    LARGEST_INTEGER,
    LARGEST_REAL,
    SHAPE,
    TABULATED,
    VALUE,
)
from societies.economy.config import EconomyConfig
from societies.economy.results import DayRecorder
from societies.workload import Setup
from societies.workload.declare.config import LARGEST_SEED
from societies.workload.running.registry import workload, workloads

DOCS = Path(__file__).resolve().parent
ROOMS = ("economy", "models", "games", "physics")
NO_LIMIT = (LARGEST_INTEGER, LARGEST_REAL, LARGEST_SEED)  # said once on the page


KINDS = {VALUE: "value", TABULATED: "value", INITIAL: "initial", SHAPE: "shape"}
"""What the page calls the kinds of keys: to its readers it is the same who makes a table."""


def configuration(room: str) -> Iterator[str]:
    """Yield for each workload of a room a table of its own keys and one for each section."""
    for name, one in workloads().items():
        if type(one).__module__.startswith(f"societies.{room}."):
            schema = json_schema(name)
            yield f"\n## workload: {name}\n\n{one.summary[0].upper()}{one.summary[1:]}.\n"
            yield from _section(schema, schema, "")


def state() -> Iterator[str]:
    """Yield the state, one row a field: of every society, then what some keys bring."""
    of_groups = GROUP_STATE | GROUP_DEVICE_STATE
    for lead, fields in (
        ("", STATE),
        ("With devices also:", DEVICE_STATE),
        ("With groups also (the second with devices):", of_groups),
        ("With `record.measures` also:", MEASURE_STATE),
        ("With `record.measures` and devices also:", MEASURE_DEVICE_STATE),
        ("With taxes or transfers also:", POLICY_STATE),
        ("With `record.measures` and taxes or transfers also:", MEASURE_POLICY_STATE),
        ("With `record.network` also:", NETWORK_STATE),
        ("With `record.network` and devices also:", NETWORK_DEVICE_STATE),
    ):
        if lead:
            yield f"\n{lead}\n"
        yield from _table(
            ["field", "dimensions", "type", "range", "unit", "meaning"],
            [
                [
                    f"`{name}`",
                    ", ".join(("society", *f.dims)),
                    f.dtype,
                    _within(f),
                    f.unit,
                    f.meaning,
                ]
                for name, f in fields.items()
            ],
        )


def variables() -> Iterator[str]:
    """Yield the variables of a file with devices, groups and all detail, one row each."""
    record = {"agent": 10, "agent_resource": 50, "device": 5, "measures": True}
    groups = [{"name": name, "share": 0.5} for name in ("one", "other")]
    policies = {"transfer": {"equal": 1.0}}
    settings = {"workload": "economy", "devices": "all", "groups": groups, "record": record}
    settings |= {"policies": policies}
    config = config_from_dict(settings)
    assert isinstance(config, EconomyConfig)
    yield from _table(
        ["variable", "dimensions", "type", "unit", "meaning"],
        [
            [f"`{v.name}`", ", ".join(v.dims), str(v.dtype), v.units, v.long_name]
            for v in DayRecorder(Setup(workload("economy"), config)).variables()
        ],
    )


def clocks() -> Iterator[str]:
    """Yield what each workload of ours calls its ticks and copies, and what it has of its own."""
    yield from _table(
        ["`workload`", "tick", "at most", "copies", "work counted", "also"],
        [
            [
                f"`{name}`",
                one.clock,
                f"`{one.ticks_key}`" if one.ticks_key in one.config.model_fields else "",
                one.copies,
                one.work,
                ", ".join(
                    [
                        *(f"`{word}`" for word in OWN if hasattr(one, word)),
                        *(f"`export --to {form}`" for form in one.export),
                    ]
                ),
            ]
            for name, one in workloads().items()
            if type(one).__module__.startswith("societies.")
        ],
    )


ALL_OF_THE_ECONOMY = {
    "devices": "all",
    "groups": [{"name": name, "share": 0.5} for name in ("one", "other")],
    "trading": {"fresh_values": True},
    "endowment": {"units": 1},
    "replicates": 2,
    "fan": {"day": 1, "futures": 2},
    "draws": {"synchronized": True},
    "shocks": [{"day": 1, "remove": "resource", "index": 0}],
    "policies": {"transfer": {"equal": 1.0}},
    "record": {"measures": True, "network": [1]},
}
"""Settings with which the economy has every phase and every array of its state."""


def described(name: str) -> tuple[Any, Any]:
    """Return a workload and its parameters with all that it can have."""
    settings = ALL_OF_THE_ECONOMY if name == "economy" else {}
    return workload(name), workload(name).parameters(
        config_from_dict({"workload": name, **settings})
    )


def odd_state(name: str) -> Iterator[str]:
    """Yield every state variable of a model: what it is of, its unit and its meaning."""
    one, p = described(name)
    fields = {n: (f.dims, f.unit, f.meaning) for n, f in one.fields(p).items()}
    order = {dims: i for i, dims in enumerate(dict.fromkeys(d for d, _, _ in fields.values()))}
    yield from _table(
        ["state variable", "of every", "unit", "meaning"],
        [
            [f"`{n}`", ", ".join(dims) or one.copies, unit, meaning]
            for n, (dims, unit, meaning) in sorted(
                fields.items(), key=lambda found: order[found[1][0]]
            )
        ],
    )


def odd_phases(name: str) -> Iterator[str]:
    """Yield every phase of a model in the order of its first turn, and what carries it out."""
    one, p = described(name)
    if name == "economy":
        found = schedule.phases(p)
    else:
        module = import_module(type(one).__module__)
        found = {phase: getattr(module, phase) for phase in (*one.start, *one.day)}
    yield from _table(
        ["phase", "what it does", "in Python"],
        [
            [
                f"`{phase}`",
                " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split()),
                f"[{file.name}]({os.path.relpath(file, DOCS)})",
            ]
            for phase, function in found.items()
            for file in (Path(inspect.getfile(inspect.unwrap(function))),)
        ],
    )


def series_of(name: str) -> Iterator[str]:
    """Yield every series of a model: its unit and its definition."""
    one, p = described(name)
    rows = [[f"`{n}`", s.unit, s.meaning] for n, s in one.series(p).items()]
    yield from _table(["series", "unit", "definition"], rows)


def odd_keys(name: str) -> Iterator[str]:
    """Yield every key of a model with its default, unit and meaning, in one table."""
    schema = json_schema(name)
    yield from _table(["key", "default", "unit", "meaning"], list(_keys(schema, schema, "")))


def _keys(schema: dict[str, Any], node: dict[str, Any], prefix: str) -> Iterator[list[str]]:
    for name, reference in node["properties"].items():
        key = _resolved(schema, reference)
        item = _resolved(schema, key.get("items", {}))
        default = "required" if name in node.get("required", []) else _yaml(key.get("default"))
        if "properties" in key:
            yield from _keys(schema, key, f"{prefix}{name}.")
            continue
        meaning = key.get("description", "")
        yield [f"`{prefix}{name}`", default, key.get("unit", ""), meaning]
        if "properties" in item:
            yield from _keys(schema, item, f"{prefix}{name}[].")


OWN = ("figure", "trace", "view", "play")
"""Members that a workload may have, each for a command of its own."""

TABLES = {
    **{f"configuration-{room}": partial(configuration, room) for room in ROOMS},
    **{f"odd-{name}-state": partial(odd_state, name) for name in ("economy", "bam")},
    **{f"odd-{name}-phases": partial(odd_phases, name) for name in ("economy", "bam")},
    "bam-series": partial(series_of, "bam"),
    **{f"odd-{name}-keys": partial(odd_keys, name) for name in ("economy", "bam")},
    "state": state,
    "variables": variables,
    "workloads": clocks,
}


def updated(page: str) -> str:
    """Return the page with its tables as the code has them now."""

    def fill(match: re.Match[str]) -> str:
        table = "\n".join(TABLES[match[1]]())
        return f"<!-- begin: {match[1]} -->\n{table}\n<!-- end: {match[1]} -->"

    return re.sub(r"<!-- begin: ([\w-]+) -->\n.*?<!-- end: \1 -->", fill, page, flags=re.DOTALL)


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    for row in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def _within(field: Array) -> str:
    """Return the range of a field of the state, as people read it."""
    low, high = field.within
    if low is None:
        return "finite"
    if high is None:
        return f"≥ {low}"
    return f"{low}" if low == high else f"{low} to {high}"


def _section(schema: dict[str, Any], node: dict[str, Any], prefix: str) -> Iterator[str]:
    """Yield the table of a section's own keys, then those of the sections inside it."""
    rows, inner = [], []
    for name, reference in node["properties"].items():
        key = _resolved(schema, reference)
        item = _resolved(schema, key.get("items", {}))
        if "properties" in key:
            inner.append((f"{prefix}{name}.", key))
        else:
            if "properties" in item:
                inner.append((f"{prefix}{name}[].", item))
            default = "required" if name in node.get("required", []) else _yaml(key.get("default"))
            rows.append(
                [
                    f"`{prefix}{name}`",
                    default,
                    key.get("unit", ""),
                    _range(schema, key),
                    KINDS.get(key.get("kind", node.get("kind", "")), ""),
                    key.get("description", ""),
                ]
            )
    if prefix:
        yield f"\n### {prefix.rstrip('.')}\n"
        if "description" in node:
            yield f"{node['description']}\n"
    if rows:
        yield from _table(["key", "default", "unit", "range", "kind", "meaning"], rows)
    for path, section in inner:
        yield from _section(schema, section, path)


def _resolved(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """Return the node with its reference and its one alternative other than null put in place."""
    for choice in ("anyOf", "oneOf"):
        real = [n for n in node.get(choice, []) if n.get("type") != "null"]
        if len(real) == 1:
            node = {**real[0], **{k: v for k, v in node.items() if k != choice}}
    if "$ref" in node:
        target = schema["$defs"][node["$ref"].rpartition("/")[2]]
        return _resolved(schema, {**target, **{k: v for k, v in node.items() if k != "$ref"}})
    return node


def _range(schema: dict[str, Any], key: dict[str, Any]) -> str:
    choices = key.get("anyOf") or key.get("oneOf")
    if choices:
        ranges = [_range(schema, _resolved(schema, choice)) for choice in choices]
        if ranges[1:] == [f"list of {ranges[0]}"]:
            return f"{ranges[0]}, or a list"
        return " or ".join(ranges)
    if "const" in key:
        return f"`{key['const']}`"
    if "enum" in key:
        return ", ".join(f"`{value}`" for value in key["enum"])
    kind = key.get("type", "")
    if kind == "array":
        item = _resolved(schema, key.get("items", {}))
        return "list" if "properties" in item else f"list of {_range(schema, item)}"
    limits = [
        f"{sign} {key[word]:.12g}"
        for word, sign in (
            ("exclusiveMinimum", ">"),
            ("minimum", "≥"),
            ("exclusiveMaximum", "<"),
            ("maximum", "≤"),
        )
        if word in key and key[word] not in NO_LIMIT
    ]
    return " ".join([kind, *limits[:1], *(f"and {limit}" for limit in limits[1:])])


def _yaml(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


if __name__ == "__main__":
    for page in DOCS.rglob("*.md"):
        page.write_text(updated(page.read_text()))
