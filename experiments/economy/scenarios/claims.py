"""What the paper prints, what the recorded runs give, and what ours give: a table of claims.

Source of the claims: Haney, Haarsma and Ditta (2016), Figures 7 to 13.
"""

import numpy as np

SOURCES = ("hand", "tool", "machine", "factory", "industry")


def table(ensembles, recorded):
    """Return the claims as Markdown, for the scenarios that there are."""
    rows = ["| figure | the paper | ours | recorded runs |", "|---|---|---|---|"]
    for scenario, claims in CLAIMS.items():
        if scenario in ensembles:
            means = ensembles[scenario].mean("society")
            own = Runs({name: values.values for name, values in means.items()})
            theirs = Runs(
                {
                    n: np.array([t[d]["mean"] for d in sorted(t)])
                    for n, t in recorded[scenario].items()
                }
            )
            rows += [f"| {fig} | {said} | {of(own)} | {of(theirs)} |" for fig, said, of in claims]
    return "# The paper's claims\n\nMeans over societies.\n\n" + "\n".join(rows) + "\n"


class Runs:
    """Mean series by recorded name, from day 1 on."""

    def __init__(self, series):
        self.series = series

    def at(self, name, *days):
        """Return the values on some days, as text."""
        return ", ".join(f"{self.series[name][day - 1]:.4g}" for day in days)

    def mean(self, name, first, last):
        return float(self.series[name][first - 1 : last].mean())

    def peak(self, name, first, last):
        """Return the largest value within some days and its day."""
        part = self.series[name][first - 1 : last]
        return float(part.max()), first + int(part.argmax())

    def first_above(self, name, level):
        above = self.series[name] > level
        return 1 + int(above.argmax()) if above.any() else None


def surge(first, last, *after):
    def said(runs):
        value, day = runs.peak("gini_day", first, last)
        return f"{value:.3f} on day {day}; then {runs.at('gini_day', *after)}"

    return said


def plateau(runs):
    return f"{runs.at('gathered', 151)}; {runs.mean('gathered', 401, 500):.0f} on days 401 to 500"


def fold(runs):
    return f"{runs.mean('gathered', 451, 500) / 187.0:.1f}-fold"


def leaders(runs):
    """From which day on does each source carry more than the others?"""
    shares = np.array([runs.series[f"pct_{name}"] for name in SOURCES])
    leading = shares.argmax(axis=0)
    begins = []
    for i, name in enumerate(SOURCES[1:], start=1):
        days = np.flatnonzero(leading == i)
        begins.append(f"{name} {days[0] + 1}" if len(days) else f"{name} never")
    return ", ".join(begins)


def levels(runs):
    """On which day does interdependence pass what one device of a type contains?"""
    days = [(n, runs.first_above("complexity", 0.9 * n)) for n in (5, 30, 180)]
    return ", ".join(f"{n}: day {day}" for n, day in days)


def collapse(name):
    def said(runs):
        before = runs.mean(name, 596, 600)
        days = (611, 631, 651, 1100, 1300)
        return ", ".join(f"{runs.series[name][d - 1] / before:.2f}" for d in days)

    return said


CLAIMS = {
    "no_trade": [
        (
            "7, no trade",
            "units on days 1, 201, 251, 301: 67, 103.5, 137.8, 162.4",
            lambda runs: runs.at("gathered", 1, 201, 251, 301),
        ),
        ("7, no trade", "steady at 187", lambda runs: f"{runs.mean('gathered', 401, 500):.1f}"),
    ],
    "trade": [
        ("7, trade", "rises from about day 75", lambda runs: runs.at("gathered", 50, 75, 100)),
        ("7, trade", "125 units on day 125", lambda runs: runs.at("gathered", 125)),
        ("7, trade", "the same level in the end", lambda r: f"{r.mean('gathered', 401, 500):.1f}"),
    ],
    "tools": [
        ("7, tools", "416 on day 151, plateau 471", plateau),
        (
            "8, tools",
            "a surge of inequality about day 50, gone by day 100",
            surge(25, 99, 100, 200),
        ),
    ],
    "devices": [
        ("7, all devices", "about twelve-fold (of 187) after 500 days", fold),
        ("8, all devices", "a surge that settles clearly higher", surge(25, 200, 300, 500)),
    ],
    "long_run": [
        (
            "9",
            "tools about days 15 to 50, machines by 100, factories nearly everything by 300, "
            "industries only beginning; first day on which each carries most",
            leaders,
        ),
        (
            "10",
            "on day 300 nearly all tools made with machines, nearly half of the machines with "
            "factories",
            lambda runs: f"{runs.at('use_devmachine', 300)}; {runs.at('use_devfactory', 300)}",
        ),
        (
            "11",
            "median HHI rises with tools and machines and settles near 0.5 "
            "(days 50, 100, 200, 300, 500, 1500)",
            lambda runs: runs.at("hhi_med", 50, 100, 200, 300, 500, 1500),
        ),
        (
            "11",
            "some resources at 1 (largest HHI, days 100, 300, 500)",
            lambda runs: runs.at("hhi_max", 100, 300, 500),
        ),
        ("12", "interdependence 5 with tools, 30 with machines, more than 24 later", levels),
    ],
    "shock": [
        (
            "13",
            "extraction falls nearly ten-fold (days 611, 631, 651, 1100, 1300 against 596 to 600)",
            collapse("gathered"),
        ),
        ("13", "utility falls by half (same days)", collapse("mean_util")),
    ],
}
