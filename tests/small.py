"""Every workload in a small configuration, in which each of its phases has something to do.

A workload needs no entry in this file: its small configuration is its shipped quickstart with few
ticks, and its forms are the words that its keys can be. An entry is for a quickstart that plain
Python takes long for, or in which a phase has nothing to do, and for forms that need more than a
word, or of which fewer say as much.
"""

from copy import deepcopy
from functools import cache
from typing import Literal, get_args, get_origin

import rooms

from societies import config_from_dict, load_config
from societies.config.model import Section
from societies.errors import ConfigError
from societies.paths import shipped_configurations
from societies.workload.running.registry import workload, workload_names

TICKS, CHECKPOINT = 12, 4
"""Most ticks of a run that is derived from a quickstart, and those between its checkpoints."""

GROUPS = [
    {"name": "able", "count": 3, "extraction": {"max_effort": 7.0}},
    {"name": "strong", "count": 2, "trade_power": 2.5, "inventiveness": 2.0},
]
"""Of the five agents of the small economy."""

WITH_DEVICES = {
    "workload": "economy",
    "agents": 6,
    "resources": 6,
    "day_length": 150.0,
    "seed": 4,
    "devices": "all",
    "utility": {"min_marginal": 2.5},
    "extraction": {"max_experience": 150.0},
    "trading": {"rounds": 2, "menu_size": 3},
    "devices_market": {"rounds": 4},
    "device": {"resources_in_tool": 3, "components": 3},
    "invention": {
        "tool_probability": 0.02,
        "device_probability": 0.1,
        "min_made_for_device_maker": 1,
    },
}
"""A society in which resources are swapped and devices of several types are sold within days."""

BAM_WORDS = (
    {
        "price_floor": "cost_capped",
        "mean_price": "plain",
        "search_pool": "vacancies",
        "hiring": "one_by_one",
        "min_wage": "up",
        "inflation": "quarter",
        "raise_contracts": "no",
        "credit_order": "worth",
        "layoff": "dearest",
        "recovery": "cash",
        "dividend_to": "income",
        "exit_rule": "worth",
        "entry_productivity": "mean",
        "loyalty": "none",
        "shopping": "rounds",
        "labour_rounding": "nearest",
        "entry_money": "households",
        "rnd_money": "households",
        "rnd_fragility": "loans",
    },
    {
        "price_floor": "none",
        "mean_price": "sales",
        "min_wage": "fixed",
        "credit_order": "drawn",
        "recovery": "none",
        "labour_rounding": "reals",
        "buffer": True,
    },
    {"labour_rounding": "down", "growth": False, "contract": 2, "beta": 1.3},
)
"""Every word of every key of BAM, in few configurations: each is a program of its own."""

SMALL = {
    "bam": {
        "firms": 6,
        "households": 20,
        "banks": 3,
        "quarters": 12,
        "growth": True,
        "h_rho": 0.5,
        "h_eta": 0.4,
        "h_xi": 0.3,
        "contract": 3,
        "net_worth_ratio": 0.4,
        "equity0": 0.3,
        "savings0": 0.1,
        "bank_dividends": 0.25,
        "tax": 0.2,
        "record": {"detail": 4, "checkpoint": 4},
    },
    "chess": {
        "positions": ["7k/P7/8/8/8/8/p7/7K w - - 0 1", "7k/8/8/8/8/4p3/3P4/K7 b - - 0 1"],
        "rules": "pseudo_legal",
        "depth": 3,
        "batch": {"leaves": 9, "branches": 4},
        "record": {"checkpoint": 5},
    },
    "connect6": {
        "depth": 2,
        "width": 3,
        "singles": 3,
        "positions": [
            {"black": "J10"},
            {"black": "A1 B1 C1 D1 E1 F1 S19", "white": "A3 A5 A7 C3 C5 C7"},
            {"black": "L8 K9 J10 L10 I11", "white": "I7 I8 I9 J9 I10 G13"},
        ],
        "batch": {"leaves": 2, "branches": 2},
        "pool": 8,
        "record": {"checkpoint": 5},
    },
    "connect6_match": {
        "black": "A1 B1 C1 D1 S19",
        "white": "A3 A5 A7 C3",
        "games": 10,
        "opening": 1,
        "players": [{"depth": 1, "width": 3}, {"kind": "random"}],
        "record": {"checkpoint": 4},
    },
    "chess_match": {
        "fen": "8/8/8/3k4/3P4/3K4/8/8 w - - 96 90",
        "games": 10,
        "opening": 1,
        "players": [{"depth": 1}, {"kind": "random"}],
        "record": {"checkpoint": 4},
    },
    "chess_perft": {
        "positions": [
            "k7/p1p1p1p1/P1P1P1P1/8/8/p1p1p1p1/P1P1P1P1/K7 w - - 0 1",
            "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
        ],
        "depth": 9,
        "level_positions": 436,
        "record": {"checkpoint": 5},
    },
    "blur": {
        "width": 7,
        "height": 5,
        "passes": 9,
        "record": {"detail": 4, "checkpoint": 4},
    },
    "economy": {
        "agents": 5,
        "resources": 7,
        "days": 14,
        "seed": 7,
        "devices": "all",
        "device": {"resources_in_tool": 3, "components": 3},
        "trading": {"rounds": 2, "menu_size": 3, "fresh_values": True},
        "devices_market": {"rounds": 3},
        "invention": {
            "tool_probability": 0.01,
            "device_probability": 0.05,
            "min_made_for_device_maker": 1,
        },
        "shocks": [
            {"day": 0, "remove": "resource", "index": 1},
            {"day": 9, "remove": "resource", "index": "random", "holdings": "lose"},
            {"day": 12, "remove": "agent", "index": "random"},
        ],
        "record": {"agent": 2, "agent_resource": 5, "checkpoint": 4},
    },
    "havannah": {
        "size": 3,
        "moves": "A1 C3 A2 C4",
        "candidates": ["A3", "E3", "B2"],
        "batches": 12,
        "batch": 4,
        "record": {"checkpoint": 2, "game": 3},
    },
    "havannah_match": {
        "size": 3,
        "games": 10,
        "opening": 1,
        "players": [
            {"kind": "uct", "playouts": 8, "each": 2, "leaves": 4},
            {"kind": "random"},
        ],
        "record": {"checkpoint": 4},
    },
    "havannah_search": {
        "size": 3,
        "moves": "A1 C3 A2 C4",
        "batches": 12,
        "leaves": 7,
        "each": 2,
        "nodes": 24,
        "record": {"checkpoint": 5},
    },
    "kalah": {
        "pits": 3,
        "stones": 3,
        "depth": 9,
        "alone": 0,
        "plies": 2,
        "boards": 1024,
        "positions": [
            {"board": [3, 3, 3, 0, 3, 3, 3, 0]},
            {"board": [0, 8, 1, 2, 1, 0, 1, 5], "to_move": "bottom"},
            {"board": [0, 0, 0, 9, 1, 0, 1, 5], "to_move": "bottom"},
        ],
        "record": {"checkpoint": 5},
    },
    "kalah_match": {
        "pits": 3,
        "stones": 2,
        "games": 10,
        "opening": 2,
        "plies": 2,
        "alone": 0,
        "boards": 64,
        "players": [{"depth": 3}, {"kind": "layers", "depth": 2}],
        "record": {"checkpoint": 4},
    },
    "kalah_solve": {
        "pits": [2, 1],
        "stones": 3,
        "layers": 10,
        "record": {"checkpoint": 4},
    },
    "laplace": {
        "side": 12,
        "steps": 60,
        "tolerance": 5e-3,
        "check_every": 3,
        "record": {"series": 2, "detail": 8, "checkpoint": 5},
    },
    "matmul": {
        "rows": 5,
        "inner": 7,
        "columns": 6,
        "repeats": 9,
        "record": {"product": True, "checkpoint": 4},
    },
    "molecular_dynamics": {
        "cells": 3,
        "density": 0.3,
        "cutoff": 2.0,
        "steps": 12,
        "thermostat": "rescale",
        "equilibrate": 6,
        "record": {"series": 2, "detail": 4, "checkpoint": 5},
    },
    "raytracer": {
        "width": 6,
        "height": 5,
        "samples": 3,
        "shading": "whitted",
        "form": "tree",
        "scene": {
            "spheres": [
                {"centre": [4, 0, 0], "radius": 1, "reflect": 0.4},
                {"centre": [3, 1, 0.2], "radius": 0.6, "transmit": 0.8, "reflect": 0.1},
            ],
            "planes": [{"point": [0, 0, -1], "normal": [0, 0, 1], "colour": [90, 120, 60]}],
            "lights": [{"position": [0, 3, 4]}],
        },
        "record": {"float_image": True, "checkpoint": 5},
    },
    "tictactoe": {
        "depth": 4,
        "position": "X.. .O. ..X",
        "batch": {"leaves": 9, "branches": 4},
        "pool": 45,
        "record": {"checkpoint": 5},
    },
}


ORDERED = "XO. XO. ..."
"""Of tic-tac-toe: the best move is not the first one, so that the order of a depth differs."""

MANY_BRANCHES = {"leaves": 300, "branches": 300}
"""With room for this number of nodes a GPU has many workgroups select and close."""

FORMS = {
    "bam": BAM_WORDS,
    "chess": (
        {
            "rules": "legal",
            "form": "host",
            "positions": ["7k/8/5K2/8/8/8/6Q1/8 w - - 0 1", "7k/P7/8/8/8/8/p7/7K b - - 0 1"],
        },
    ),
    "connect6": ({"form": "host", "pruning": "none", "prover": 2},),
    "chess_perft": (
        {
            "depth": 3,
            "detail": True,
            "positions": ["8/P6k/8/8/4p3/8/3P4/K7 w - - 0 1", "4k3/8/8/8/8/8/8/R3K2R b KQ - 0 1"],
        },
    ),
    "economy": (
        {
            "days": 5,
            "groups": [
                {"name": "a", "share": 0.5, "transfer_share": 0.1},
                {"name": "b", "share": 0.5},
            ],
            "policies": {
                "holdings_tax": {"rate": 0.05, "middle_from": 20, "middle_rate": 0.1},
                "income_tax": {"rate": 0.1},
                "sales_tax": {"rate": 0.2},
                "quota_of": 2,
                "quota": 3,
                "price_of": 3,
                "price_floor": 0.8,
                "price_cap": 1.5,
                "transfer": {"equal": 0.2, "poorest": 0.4, "least_extracting": 0.1, "making": 0.1},
            },
            "fan": {"day": 2, "futures": 1},
            "draws": {"synchronized": True},
            "endowment": {"units": [40, 0, 3, 12, 1, 0, 9]},
            "record": {"measures": True, "agent": 1, "network": [5]},
        },
        {"devices": "none", "trade": False},
    ),
    "havannah": (
        {"winner": "offline", "find": "plain"},
        {"winner": "flood", "find": "compression"},
        {"batches": 2, "runner": "each", "active": 2, "together": 3, "memory": "local"},
        {"batches": 2, "memory": "global", "neighbours": "table", "find": "plain"},
    ),
    "havannah_search": (
        {"batches": 6, "rave": 9.5, "exploration": 0.05, "each": 1, "leaves": 40, "trees": 3},
        {"batches": 6, "moves": "A1 C3 A2 C4 B2 D3 E1 B4", "rave": 50.0, "leaves": 40},
    ),
    "blur": (
        {"passes": 2, "kind": "box", "radius": 2},
        {"passes": 2, "kind": "gaussian", "sigma": 0.6, "variant": "separate"},
        {"passes": 2, "kind": "box", "arithmetic": "float", "border": "available"},
    ),
    "kalah": (
        {"depth": 8, "plies": 1},
        {"depth": 5, "form": "layers", "split": [1, 2, 3], "boards": 64},
    ),
    "kalah_match": (
        {"games": 2, "players": [{"kind": "random"}, {"kind": "bonzo"}], "replicates": 3},
    ),
    "kalah_solve": ({"pits": [2], "stones": 1, "layers": 4},),
    "connect6_match": (),  # who is to move is the same text
    "laplace": (
        {"variant": "seed"},
        {"method": "heat", "precision": "double"},
        {"variant": "deep", "check_every": 6, "record": {"series": 6, "detail": 8}},
        {"variant": "tiled", "steps": 3, "precision": "double"},
        {
            "variant": "deep",
            "steps": 6,
            "precision": "double",
            "check_every": 6,
            "record": {"series": 6},
        },
        {"method": "sor", "tolerance": 1e-3},
    ),
    "matmul": (
        {"repeats": 1, "variant": "tiled", "tile": 3},
        {"repeats": 1, "variant": "blocked", "precision": "double"},
        {"repeats": 1, "variant": "vector", "arithmetic": "separate"},
    ),
    "molecular_dynamics": (
        {
            "variant": "cell",
            "form": "plain",
            "precision": "double",
            "velocities": "pairs",
            "steps": 4,
            "equilibrate": 2,
        },
        {"variant": "particle", "form": "shifted", "cells": 5, "density": 0.18, "steps": 2},
        {"variant": "all_pairs", "thermostat": "none"},
    ),
    "raytracer": (
        {"samples": 1, "form": "brute", "precision": "double"},
        {"samples": 1, "form": "tree", "shading": "seed"},
        {"samples": 1, "form": "brute", "shading": "seed", "tile": 8, "scene": {"grid": 2}},
    ),
    "tictactoe": (
        {"form": "host", "pruning": "none", "depth": 2},
        {"position": ORDERED, "rounds": [1, 3], "deepening": 2, "aspiration": 1},
        {"form": "host", "position": ORDERED, "rounds": [2], "deepening": 1, "aspiration": 2},
        {"rounds": [2], "deepening": 2, "batch": MANY_BRANCHES, "pool": 5000},
    ),
}
"""Changes of the small configuration that compile and launch other text; else `words` says them."""


@cache
def quickstarts():
    """Return the settings of all shipped quickstarts, by the name of their workload."""
    configs = (
        load_config(shipped)
        for shipped in shipped_configurations()
        if shipped.rpartition("/")[2] == "quickstart"
    )
    return {config.workload: config.model_dump(exclude_unset=True) for config in configs}


def quickstart(name):
    """Return the shipped quickstart of a workload, as a dict."""
    assert name in quickstarts(), f"ship a quickstart.yaml of {name}, or add it to tests/small.py"
    settings = deepcopy(quickstarts()[name])
    settings.pop("replicates", None)  # tests say how many copies they have
    return settings


def small(name, **more):
    """Return the small configuration of a workload, changed as asked."""
    settings = SMALL[name] if name in SMALL else shortened(workload(name), quickstart(name))
    return config_from_dict({"workload": name, **settings, **more})


def shortened(chosen, settings):
    """Return the settings of a run with few ticks, which can be stopped and resumed on the way."""
    keys, found = chosen.config.model_fields, dict(settings)
    ticks = chosen.ticks(config_from_dict(settings))
    if chosen.ticks_key in keys and ticks > TICKS:
        found[chosen.ticks_key] = TICKS
    if "record" in keys:
        found["record"] = {**settings.get("record", {}), "checkpoint": CHECKPOINT}
        if found["record"].get("detail", 0) > TICKS:
            found["record"]["detail"] = CHECKPOINT
    return found


def forms(name):
    """Return the settings of each form of a workload; those of the first are none."""
    return ({}, *(FORMS[name] if name in FORMS else words(name)))


def words(name):
    """Yield each other word that a key of the small configuration can be, if nothing forbids it.

    Keys of sections inside are left as they are.
    """
    config = small(name)
    for key, field in type(config).model_fields.items():
        if get_origin(field.annotation) is Literal:
            for word in get_args(field.annotation):
                try:
                    small(name, **{key: word})
                except ConfigError:
                    continue
                if word != getattr(config, key):
                    yield {key: word}


def keys_of(model, path=(), around=""):
    """Yield the dotted key and the kind of everything that a configuration has but lists."""
    for name, field in model.model_fields.items():
        kind = (field.json_schema_extra or {}).get("kind", around)
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield from keys_of(field.annotation, (*path, name), kind)
        else:
            yield ".".join((*path, name)), kind


def names():
    """Return the names of all workloads."""
    return sorted(workload_names())


def tried():
    """Return the names of the workloads whose tests this run of pytest does not leave out.

    For parameters that are dear to make, such as the phases of models, which are translated.
    """
    return [name for name in names() if not rooms.is_excluded(name)]
