"""From which distribution are the values of a key drawn? `scipy.stats` has the quantiles."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.config.problems import described, suggestion
from societies.errors import ConfigError

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "uniform": ("low", "high"),
    "log_uniform": ("low", "high"),
    "triangular": ("low", "mode", "high"),
    "normal": ("mean", "sd"),
    "lognormal": ("median", "sigma"),
    "choice": ("values",),
}
"""Distributions, with the parameters that each must have."""
ENDS = ("low", "high")
"""Optional parameters at which a normal or lognormal distribution is cut off."""

FAR = 6
"""Standard deviations from the mean within which a distribution must have different values."""

FLAT = 1e-7
"""Largest relative change of a normal density between its ends at which it is taken for uniform:
differences of its distribution function would be lost in rounding."""

REACHES_TOO_FAR = "has values beyond 1e308; choose it narrower, or cut it off with low and high"
LARGEST = sys.float_info.max


def is_number(value: Any) -> bool:
    """Whether a value is a finite number within the range of double precision."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and -LARGEST <= value <= LARGEST


class Wrong(ValueError):
    """Raised for a range that is not valid; ``key`` is the wrong key in it, None for the whole."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


@dataclass(frozen=True)
class Range:
    """A distribution of values.

    Attributes
    ----------
    distribution : a name in `PARAMETERS`
    given : its parameters
    whole : whether values are whole numbers; all those of a uniform range are equally likely
    """

    distribution: str
    given: Mapping[str, Any]
    whole: bool = False

    def values(self, unit: NDArray[np.float64]) -> list[Any]:
        """Return the quantiles of the distribution at probabilities between 0 and 1."""
        if self.distribution == "choice":
            choices = self.given["values"]
            places = np.minimum((unit * len(choices)).astype(int), len(choices) - 1)
            return [choices[place] for place in places]
        if self.whole and self.distribution == "uniform":
            low, high = self.given["low"], self.given["high"]
            drawn = np.minimum(np.floor(low + unit * (high - low + 1)), high)
            return [int(value) for value in drawn]
        with np.errstate(all="ignore"):
            drawn = self._quantiles(unit)
        if not np.isfinite(drawn).all():
            raise ConfigError(f"vary: a {self.distribution} range {REACHES_TOO_FAR}")
        low, high = self.given.get("low", -math.inf), self.given.get("high", math.inf)
        drawn = np.clip(drawn, low, high)  # rounding must not lead out of the range
        return [round(value) for value in drawn] if self.whole else drawn.tolist()

    def _quantiles(self, unit: NDArray[np.float64]) -> NDArray[np.float64]:
        # numpy and scipy do not compute with whole numbers of more than 64 bits
        given = {word: float(value) for word, value in self.given.items()}
        if self.distribution == "uniform":
            return given["low"] + unit * (given["high"] - given["low"])
        from scipy import stats

        found: NDArray[np.float64]
        if self.distribution in ("log_uniform", "triangular"):
            low, high = given["low"], given["high"]
            if self.distribution == "log_uniform":
                found = stats.loguniform(low, high).ppf(unit)
            else:
                mode = (given["mode"] - low) / (high - low)
                found = stats.triang(mode, loc=low, scale=high - low).ppf(unit)
            return found
        logarithmic = self.distribution == "lognormal"
        mean = math.log(given["median"]) if logarithmic else given["mean"]
        spread = given["sigma"] if logarithmic else given["sd"]
        low, high = given.get("low", -math.inf), given.get("high", math.inf)
        if logarithmic:
            low, high = math.log(low) if low > 0 else -math.inf, math.log(high)
        ends = ((low - mean) / spread, (high - mean) / spread)
        if (ends[1] - ends[0]) * max(1.0, *map(abs, ends)) < FLAT:
            found = low + unit * (high - low)
        else:
            found = stats.truncnorm(*ends, loc=mean, scale=spread).ppf(unit)
        return np.exp(found) if logarithmic else found


def range_of(said: Any, *, ends: bool = False) -> Range:
    """Return the distribution that a document describes.

    Raises Wrong if it does not describe a distribution.

    Parameters
    ----------
    said : ``{low: 0, high: 1}``, ``{distribution: normal, mean: 1, sd: 0.1}``, ...
    ends : whether the method needs a least and a largest value
    """
    if not isinstance(said, dict):
        raise Wrong(f"expected a range such as {{low: 0, high: 1}}, got {described(said)}")
    name = said.get("distribution", "choice" if "values" in said else "uniform")
    if not isinstance(name, str) or name not in PARAMETERS:
        near = suggestion(name, PARAMETERS) if isinstance(name, str) else ""
        raise Wrong(f"unknown distribution {described(name)}{near}", "distribution")
    needed = PARAMETERS[name]
    free = ENDS if name in ("normal", "lognormal") else ()
    known = ("distribution", *needed, *free, *(("whole",) if name != "choice" else ()))
    for word in said:
        if word not in known:
            near = suggestion(word, known) or f"; {name} has {', '.join(known[1:])}"
            raise Wrong(f"unknown key{near}", word)
    whole = said.get("whole", False)
    if not isinstance(whole, bool):
        raise Wrong(f"expected true or false, got {described(whole)}", "whole")
    given = {word: said[word] for word in (*needed, *free) if word in said}
    for word in needed:
        if word not in given:
            raise Wrong(f"needs {word}")
    if name == "choice":
        if not isinstance(given["values"], list) or not given["values"]:
            raise Wrong("expected a list of values", "values")
        return Range(name, given)
    for word, value in given.items():
        if not is_number(value):
            raise Wrong(f"expected a number, got {described(value)}", word)
    _require_order(name, given)
    if whole and any(float(given[word]) % 1 for word in ENDS if word in given):
        raise Wrong("low and high must be whole numbers, too")
    if ends and not {"low", "high"} <= given.keys():
        raise Wrong(f"{name} has no ends, which this method needs: give low and high")
    _require_spread(name, given, whole)
    return Range(name, given, whole)


def _require_spread(name: str, given: Mapping[str, Any], whole: bool) -> None:
    """Raise Wrong if a distribution has only one value: it is too narrow, or cut in its far tail.

    The probability of a value beyond six standard deviations is about 2e-9.
    """
    if name == "normal":
        ends = [given["mean"] + sign * FAR * given["sd"] for sign in (-1, 1)]
    elif name == "lognormal":
        far = min(FAR * given["sigma"], 700.0)  # exp(710) is infinite
        ends = [given["median"] * math.exp(sign * far) for sign in (-1, 1)]
    else:
        return
    low, high = given.get("low", -math.inf), given.get("high", math.inf)
    first, last = (min(max(end, low), high) for end in ends)
    if first == last or (whole and round(first) == round(last)):
        cut = f"low and high leave nothing within {FAR} standard deviations"
        why = cut if first in (low, high) else "the distribution is too narrow"
        raise Wrong(f"all values would be {round(first) if whole else first:g}: {why}")


def _require_order(name: str, given: Mapping[str, Any]) -> None:
    """Raise Wrong for parameters that contradict each other."""
    low, high = given.get("low", -math.inf), given.get("high", math.inf)
    if low >= high:
        raise Wrong(f"low must be less than high, got {low} and {high}")
    for word in ("sd", "sigma", "median"):
        if word in given and given[word] <= 0:
            raise Wrong(f"must be more than 0, got {given[word]}", word)
    if name == "log_uniform" and low <= 0:
        raise Wrong(f"must be more than 0, got {low}", "low")
    if name == "lognormal" and high <= 0:
        raise Wrong(f"must be more than 0, got {high}", "high")
    if name == "triangular" and not low <= given["mode"] <= high:
        raise Wrong(f"must lie between low and high, got {given['mode']}", "mode")
