"""How do the measurements of this folder get into their tables?"""

import csv


def append(path, columns, row):
    """Add a row to a table, and print it."""
    new = not path.exists()
    with path.open("a", newline="") as file:
        table = csv.DictWriter(file, columns)
        if new:
            table.writeheader()
        table.writerow(row)
    print(" ".join(f"{name}={value}" for name, value in row.items()), flush=True)
