"""How do measurements get into their tables?"""

import csv


def append(path, columns, rows):
    """Add rows to a CSV file at once, so that they remain if the next measurement is stopped."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.DictWriter(file, columns)
        if new:
            table.writeheader()
        table.writerows(rows)
