"""How do societies respond to two shocks, by what they were when it happened?

Every society of `responses.yaml` has two twins: one loses a tenth of all holdings once, one loses a
resource for good. The script runs the study, or continues it, and writes the impulse responses, of
all societies and by the Gini coefficient of their wealth on the day of the shock, as a table and a
figure: ``python experiments/economy/policies/responses.py OUT``.
"""

import csv
import subprocess
import sys

from twins import computed, options

from societies.analysis.response_table import as_dict, responses_of

VARIABLES = ("units_extracted", "units_traded", "utility", "gini_wealth")
NUMBERS = ("peak", "peak_at", "half_life")
ENDS = ("", "_low", "_high")


def main() -> None:
    """Run the study and write the responses."""
    parser = options(__doc__, "twins of each shock")
    parser.add_argument("--by", default="gini_wealth", help="variable that divides the societies")
    chosen = parser.parse_args()
    study = computed("responses", chosen)

    found = responses_of([study], VARIABLES, base="none", by=chosen.by, states=2)
    with (chosen.out / "responses.csv").open("w", newline="") as file:
        table = csv.writer(file)
        numbers = [f"{name}{end}" for name in (*NUMBERS, "cumulative") for end in ENDS]
        table.writerow(["shock", "state", "variable", "twins", *numbers])
        for one in as_dict(found):
            values = [one[f"{name}{end}"] for name in NUMBERS for end in ENDS]
            values += [one[f"cumulative{end}"][-1] for end in ENDS]
            said = ["" if value is None else f"{value:.6g}" for value in values]
            table.writerow([one["shock"], one["state"], one["variable"], one["pairs"], *said])
            print(one["shock"], one["state"], one["variable"], one["pairs"], *said, sep="\t")
    for name, more in {"responses": {}, "responses-by-state": {"by": chosen.by}}.items():
        command = [sys.executable, "-m", "societies", "irf", str(study), "--base", "none"]
        command += ["--variables", ",".join(VARIABLES), "--figure", str(chosen.out / f"{name}.png")]
        command += [f"--by={more['by']}"] if more else []
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
