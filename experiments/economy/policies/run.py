"""What do nine policies do to output, and to the inequality of income and wealth?

Every society of `laboratory.yaml` lives ten times with the same random draws: without a policy,
and with each of the nine from day 200 on. The script runs the study, or continues it, and writes
the effects with their intervals: ``python experiments/economy/policies/run.py OUT``.
"""

import csv

import xarray as xr
from twins import computed, options

from societies.analysis.effect_table import effects_of

COLUMNS = ("base", "effect", "low", "high", "relative", "se", "precision", "pairs")


def main() -> None:
    """Run the study and write the table."""
    parser = options(__doc__, "societies for each policy")
    parser.add_argument("--window", default="301:400", help="days whose mean is compared")
    chosen = parser.parse_args()
    study = computed("laboratory", chosen)

    with xr.open_dataset(study) as opened:
        recorded = [*opened.data_vars]
    compared = effects_of([study], base="none", variables=recorded, ticks=chosen.window)
    with (chosen.out / "effects.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["policy", "variable", *COLUMNS])
        for policy, found in compared.found.items():
            for variable in found.variable.values:
                one = found.sel(variable=variable)
                numbers = [f"{float(one[name]):.6g}" for name in COLUMNS]
                table.writerow([policy, variable, *numbers])
                print(policy, variable, *numbers, sep="\t")


if __name__ == "__main__":
    main()
