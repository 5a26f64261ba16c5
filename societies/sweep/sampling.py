"""Which points does a sampling method give? SALib and `scipy.stats` draw most of the samples."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from societies.config.document import Document
from societies.config.problems import Origin, Path
from societies.errors import ConfigError
from societies.lazily import np
from societies.numbers import LARGEST
from societies.sweep.factor import Factor, InvalidFactor, Row, Unknown, key_place
from societies.sweep.ranges import Range, range_of

SAMPLES: Mapping[str, tuple[str, ...]] = {
    "latin_hypercube": ("points", "seed"),
    "sobol": ("points", "seed"),
    "morris": ("trajectories", "levels", "seed"),
    "saltelli": ("points", "second_order", "seed"),
}
"""Sampling methods, and the options of each in addition to ``keys``."""
MOST_LEVELS = 1000
"""Most levels of a design of Morris; common designs have 4 to 8."""
DEFAULTS: Mapping[str, Any] = {"seed": 1, "levels": 4, "second_order": False}


def sample(document: Document, path: Path, method: str, said: Mapping[str, Any]) -> Factor:
    """Return the factor of a sampling method with the options of a document.

    Raises InvalidFactor if an option is not valid.
    """
    known = (*SAMPLES[method], "keys")
    for name in said:
        if name not in known:
            at = (*path, name)
            raise Unknown(at, "key", known, document.place(at, of_key=True))
    options = {name: said.get(name, DEFAULTS.get(name)) for name in SAMPLES[method]}
    for name, value in options.items():
        switch = name == "second_order"
        least, most = {"seed": (0, LARGEST), "levels": (2, MOST_LEVELS)}.get(name, (1, LARGEST))
        fits = isinstance(value, bool) == switch and isinstance(value, int)
        if not fits or (not switch and not least <= value <= most):
            below = f" and at most {most}" if fits and value > most else ""
            wanted = "true or false" if switch else f"a whole number of at least {least}{below}"
            at = (*path, name) if name in said else path
            raise InvalidFactor(at, f"needs {name}, {wanted}")
    if method == "morris" and options["levels"] % 2:
        raise InvalidFactor((*path, "levels"), f"must be even, got {options['levels']}")
    keys = said.get("keys")
    if not isinstance(keys, dict) or not keys:
        raise InvalidFactor(
            (*path, "keys") if "keys" in said else path, "needs keys, each with a range"
        )
    ranges: dict[str, Range] = {}
    for key, one in keys.items():
        try:
            ranges[key] = range_of(one, ends=method == "morris")
        except ValueError as error:
            at = (*path, "keys", key)
            inner = getattr(error, "key", None)
            at = (*at, inner) if inner else at
            raise InvalidFactor(at, str(error), document.place(at, of_key=bool(inner))) from None
    count = _count(method, options, len(ranges))

    @cache
    def rows() -> list[Row]:
        try:
            unit = _unit_cube(method, options, len(ranges))
            columns = [one.values(unit[:, i]) for i, one in enumerate(ranges.values())]
        except ImportError as error:
            raise ConfigError(
                f"vary.{method}: needs the package {error.name}, which is not installed: pip "
                "install 'societies[study]'"
            ) from None
        return list(zip(*columns, strict=True))

    def place(row: int, key: str) -> Origin:
        return document.place((*path, "keys", key))

    definition = {method: {**options, "keys": keys}}
    listed = key_place(document, (*path, "keys"))
    real = [key for key, one in ranges.items() if one.distribution != "choice"]
    whole = dict.fromkeys(real, "add 'whole: true' to its range")
    return Factor(tuple(keys), count, rows, place, listed, definition, distinct=False, whole=whole)


def _count(method: str, options: Mapping[str, int], keys: int) -> int:
    """Return the number of points of a sample."""
    if method == "morris":
        return options["trajectories"] * (keys + 1)
    if method == "saltelli":
        return options["points"] * ((2 * keys if options["second_order"] else keys) + 2)
    return options["points"]


def _unit_cube(method: str, options: Mapping[str, Any], keys: int) -> Any:
    """Return the sample in the unit cube, (point, key) float64."""
    if method == "latin_hypercube":
        return _latin_hypercube(options["points"], keys, options["seed"])
    import warnings

    with warnings.catch_warnings(action="ignore"):  # no power of 2: the docs explain it
        if method == "sobol":
            from scipy.stats import qmc

            return qmc.Sobol(keys, rng=options["seed"]).random(options["points"])
        from SALib.sample import morris, sobol

        problem = {"num_vars": keys, "names": [str(i) for i in range(keys)]}
        problem["bounds"] = [[0.0, 1.0]] * keys
        if method == "morris":
            trajectories, levels = options["trajectories"], options["levels"]
            return morris.sample(problem, trajectories, levels, seed=options["seed"])
        second = options["second_order"]
        return sobol.sample(
            problem, options["points"], calc_second_order=second, seed=options["seed"]
        )


def _latin_hypercube(points: int, keys: int, seed: int) -> Any:
    """Return the numbers of `scipy.stats.qmc.LatinHypercube`; it takes a second to import."""
    draws = np.random.default_rng(seed).spawn(1)[0]
    within = draws.uniform(size=(points, keys))
    parts = np.tile(np.arange(1, points + 1), (keys, 1))
    for of_key in parts:
        draws.shuffle(of_key)
    return (parts.T - within) / points
