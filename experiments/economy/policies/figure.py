"""How large are the effects of the nine policies? Draws `effects.csv`, a panel for each variable.

``python experiments/economy/policies/figure.py FOLDER`` draws FOLDER/effects.csv (default: the
committed one) as FOLDER/effects.png.
"""

import argparse
import csv
from pathlib import Path

from matplotlib.figure import Figure

HERE = Path(__file__).resolve().parent
VARIABLES = {
    "units_extracted": "output",
    "units_traded": "trade",
    "utility": "utility",
    "gini_income": "Gini of income",
    "gini_wealth": "Gini of wealth",
    "gini_consumption": "Gini of consumption",
}


def main() -> None:
    """Draw the relative effects with their intervals."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=HERE, help="folder of effects.csv")
    folder = parser.parse_args().folder
    with (folder / "effects.csv").open() as file:
        rows = list(csv.DictReader(file))
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    figure = Figure(figsize=(10, 5.6), layout="constrained")
    panels = figure.subplots(2, 3, sharey=True).ravel()
    for axes, (name, title) in zip(panels, VARIABLES.items(), strict=True):
        for place, policy in enumerate(policies):
            (row,) = (one for one in rows if (one["policy"], one["variable"]) == (policy, name))
            middle, *ends = (
                100 * float(row[key]) / float(row["base"]) for key in ("effect", "low", "high")
            )
            axes.plot(ends, [place, place], color="#0072B2", linewidth=2)
            axes.plot([middle], [place], "o", color="#0072B2", markersize=4)
        axes.axvline(0, color="#767676", linewidth=0.8)
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("change [percent]")
    panels[0].set_yticks(range(len(policies)), policies)
    panels[0].invert_yaxis()
    pairs = {row["policy"]: row["pairs"] for row in rows}
    usual = rows[0]["pairs"]
    fewer = "".join(f" ({name}: {n})" for name, n in pairs.items() if n != usual)
    said = f"mean of {usual} societies{fewer} with and without the policy, "
    said += "95 % interval (bootstrap)"
    figure.supxlabel(said, fontsize=8, color="#767676")
    figure.savefig(folder / "effects.png", dpi=120)


if __name__ == "__main__":
    main()
