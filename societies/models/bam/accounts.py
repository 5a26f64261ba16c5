"""Who paid whom in a quarter? The table of flows, whose rows and columns add up to 0 exactly.

Banks hold the deposits of firms and households, lend, and have reserves: a claim on the account
outside, from which comes what the model makes, and to which goes what it destroys. Rows are
payments, then changes of what is owed (on such tables: W. Godley and M. Lavoie, "Monetary
Economics", 2007).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from societies.models.bam.flows import SECTORS

FIRMS, HOUSEHOLDS, BANKS, OUTSIDE = range(len(SECTORS))

PAYMENTS = (
    ("wages", ("wages",), FIRMS, HOUSEHOLDS),
    ("purchases", ("purchases",), HOUSEHOLDS, FIRMS),
    ("interest", ("interest",), FIRMS, BANKS),
    ("dividends of firms", ("dividends",), FIRMS, HOUSEHOLDS),
    ("dividends of banks", ("bank_dividends",), BANKS, HOUSEHOLDS),
    ("tax", ("tax",), FIRMS, OUTSIDE),
    ("research", ("research",), FIRMS, OUTSIDE),
    ("research, to households", ("research_paid",), FIRMS, HOUSEHOLDS),
    ("loans written off", ("written_off",), BANKS, FIRMS),
    ("seized from defaulters", ("default_gap",), FIRMS, OUTSIDE),
    ("exit of firms", ("exits",), FIRMS, OUTSIDE),
    ("entry of firms", ("entries",), OUTSIDE, FIRMS),
    ("entry, from households", ("entries_paid",), HOUSEHOLDS, FIRMS),
    ("entry of banks", ("rescues",), OUTSIDE, BANKS),
    ("loans granted", ("loans",), BANKS, FIRMS),
    ("loans repaid or written off", ("repaid", "written_off"), FIRMS, BANKS),
)
"""Rows: name, entries of ``flow`` that are added up, who pays, who gets."""

CHANGES = ("change of deposits", "change of reserves")


def table(flow: Any, names: list[str], before: Any, after: Any) -> tuple[list[str], NDArray[Any]]:
    """Return the names of the rows, and the table (row, sector) of whole numbers in grains.

    Parameters
    ----------
    flow : payments of a quarter, by ``names``
    before, after : money of every sector at the ends of the quarter before and of this one
    """
    rows = []
    for _, parts, payer, payee in PAYMENTS:
        amount = sum(int(flow[names.index(part)]) for part in parts)
        row = [0] * len(SECTORS)
        row[payer] -= amount
        row[payee] += amount
        rows.append(row)
    change = [int(new) - int(old) for new, old in zip(after, before, strict=True)]
    deposits = [-change[FIRMS], -change[HOUSEHOLDS], change[FIRMS] + change[HOUSEHOLDS], 0]
    reserves = [0, 0, change[OUTSIDE], -change[OUTSIDE]]
    names_of_rows = [name for name, *_ in PAYMENTS] + list(CHANGES)
    return names_of_rows, np.array([*rows, deposits, reserves], object)
