"""Which payments between sectors does a workload with money declare?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


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
