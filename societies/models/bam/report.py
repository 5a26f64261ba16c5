"""How are the last quarters of a firm written as a text?"""

from __future__ import annotations

from collections.abc import Iterator

from societies.models.bam.config import GRAINS
from societies.models.bam.explain import Explained, Quarter
from societies.words import aligned, counted, titled

COLUMNS = (
    "quarter", "price", "average", "did", "wants", "has", "made", "sold", "sales", "wages",
    "loans", "interest", "profit", "net worth",
)  # fmt: skip


def text(found: Explained) -> str:
    """Return the quarters of a firm as a text."""
    return "\n".join(_lines(found))


def _lines(found: Explained) -> Iterator[str]:
    last = found.quarters[-1]
    end = "failed in" if last.failed else "until"
    yield f"Firm {found.firm} of economy {found.economy} {end} quarter {last.quarter}"
    yield "money in currency; workers are households, h4 is household 4"
    yield ""
    yield from _table(found.quarters)
    if last.failed:
        yield from titled("Why", _why(found.quarters))
    yield from titled("Lenders", _lenders(found.quarters))
    yield from titled("Workers", _workers(found.quarters))
    yield ""
    yield f"Reached: {found.reached}; plain Python ends the quarters in the same state."


def _money(grains: int) -> str:
    return f"{grains / GRAINS:.4g}"


def _table(quarters: list[Quarter]) -> Iterator[str]:
    rows = [COLUMNS, *map(_row, quarters)]
    yield from aligned(rows, right=lambda column: True)


def _row(one: Quarter) -> tuple[str, ...]:
    share = f"{100 * one.sales / one.value:.0f} %" if one.value else "-"
    return (
        str(one.quarter), f"{one.price:.4g}", f"{one.average:.4g}", _did(one), str(one.wanted),
        str(len(one.work)), _money(one.made), share, _money(one.sales), _money(one.wages),
        _money(sum(loan.amount for loan in one.loans)),
        _money(sum(loan.interest for loan in one.loans)), _money(one.profit), _money(one.worth),
    )  # fmt: skip


def _did(one: Quarter) -> str:
    """Return what the firm changed: its price or its planned output."""
    if one.price > one.price_before and not one.sold_out:
        return "raised its price to its cost"
    for old, new, words in (
        (one.price_before, one.price, ("raised its price", "cut its price")),
        (one.made_before, one.planned, ("planned more", "planned less")),
    ):
        if new != old:
            return words[new < old]
    return "changed nothing"


def _why(quarters: list[Quarter]) -> Iterator[str]:
    last = quarters[-1]
    if last.worth <= 0:
        yield (
            f"In quarter {last.quarter} sales of {_money(last.sales)}, less wages of "
            f"{_money(last.wages)} and interest of "
            f"{_money(sum(loan.interest for loan in last.loans))}, left "
            f"{_money(last.profit)}: net worth {_money(last.worth_before)} -> {_money(last.worth)}."
        )
    if last.made == 0:
        fired = len(last.fired_money)
        money = f" and laid off {counted(fired, 'worker')} for want of money" if fired else ""
        yield (
            f"In quarter {last.quarter} it made nothing: it wanted "
            f"{counted(last.wanted, 'worker')}, hired {len(last.hired)}{money}."
        )
    losses = [one.profit for one in quarters if one.profit < 0]
    gains = [one.profit for one in quarters if one.profit > 0]
    yield (
        f"In {counted(len(quarters), 'quarter')} net worth went from "
        f"{_money(quarters[0].worth_before)} to {_money(last.worth)}: a loss in {len(losses)} "
        f"({_money(sum(losses))} in all), a profit in {len(gains)} ({_money(sum(gains))} in all)."
    )
    unsold = sum(one.value - one.sales for one in quarters)
    made = sum(one.value for one in quarters)
    dear = sum(one.price >= one.average for one in quarters)
    yield (
        f"Its price was not below the average in {dear} of them; goods worth {_money(unsold)} of "
        f"{_money(made)} were not sold."
    )


def _lenders(quarters: list[Quarter]) -> Iterator[str]:
    granted = False
    for one in quarters:
        for loan in one.loans:
            granted = True
            end = "paid back with its interest"
            if one.defaulted:
                end = f"the bank got {_money(loan.back)} back"
            yield (
                f"quarter {one.quarter}: bank {loan.bank} granted {_money(loan.amount)} at "
                f"{100 * loan.rate:.3g} %, interest {_money(loan.interest)}; {end}"
            )
        if one.missing:
            yield f"quarter {one.quarter}: no bank granted {_money(one.missing)} that it wanted too"
    if not granted:
        yield "no bank granted it a loan"


def _workers(quarters: list[Quarter]) -> Iterator[str]:
    last = quarters[-1]
    paid = [f"h{j} {_money(wage)}" for j, wage in last.work.items()]
    yield f"paid in quarter {last.quarter}: {', '.join(paid) or 'none'}"
    for one in quarters:
        changes = (
            ("hired", one.hired),
            ("laid off as too many", one.fired_excess),
            ("laid off for want of money", one.fired_money),
            ("contract ended", one.expired),
            ("lost their job with the firm", one.lost),
        )
        parts = [f"{what} {', '.join(f'h{j}' for j in who)}" for what, who in changes if who]
        if parts:
            yield f"quarter {one.quarter}: {'; '.join(parts)}"
