"""Which payments between sectors does a workload with money declare?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Row = tuple[str, Sequence[int]]
"""A name, and for every sector the amount that it gets, negative if it pays."""


class Payment(NamedTuple):
    """A row of the table of flows.

    Attributes
    ----------
    name : name of the row
    parts : entries of `Accounts.flow` that are added up
    payer, payee : names of sectors
    """

    name: str
    parts: Sequence[str]
    payer: str
    payee: str


class Accounts(NamedTuple):
    """The payments of a workload; the member ``accounts`` declares them.

    Attributes
    ----------
    payments : rows of the table
    deposits : sectors whose money is deposits at the bank
    bank, outside : sector that owes the deposits, and sector that owes the bank its reserves
    unit : unit of the amounts
    flow : logged field of whole numbers: the payments of a tick, by name
    balance : logged field of whole numbers: the money of each sector at the end of a tick
    """

    payments: Sequence[Payment]
    deposits: Sequence[str]
    bank: str
    outside: str
    unit: str
    flow: str = "flow"
    balance: str = "balance"

    def rows(
        self, paid: Mapping[str, int], before: Mapping[str, int], after: Mapping[str, int]
    ) -> list[Row]:
        """Return the rows of the table of flows: payments, then changes of what is owed.

        Every row adds up to 0; every column does if the payments explain the changes of balances.

        Parameters
        ----------
        paid : payments by name
        before, after : money of every sector at the beginning and at the end
        """
        sectors = list(after)

        def moved(**amounts: int) -> list[int]:
            return [amounts.get(sector, 0) for sector in sectors]

        found: list[Row] = []
        for name, parts, payer, payee in self.payments:
            amount = sum(paid[part] for part in parts)
            found.append((name, moved(**{payer: -amount, payee: amount})))
        change = {sector: after[sector] - before[sector] for sector in sectors}
        deposits = {sector: -change[sector] for sector in self.deposits}
        deposits[self.bank] = -sum(deposits.values())
        reserves = {self.bank: change[self.outside], self.outside: -change[self.outside]}
        return [
            *found,
            ("change of deposits", moved(**deposits)),
            ("change of reserves", moved(**reserves)),
        ]
