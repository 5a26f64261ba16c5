"""Which payments, holders of money and counts does the model have? Entries of three fields.

`FLOWS` are the entries of ``flow``, from which the table of flows follows (`accounts`), `SECTORS`
those of ``balance``, and `TALLIES` those of ``tally``: numbers that phases count for the series.
"""

FLOWS = (
    "wages", "purchases", "loans", "repaid", "interest", "written_off", "default_gap", "dividends",
    "bank_dividends", "tax", "research", "research_paid", "exits", "entries", "entries_paid",
    "rescues",
)  # fmt: skip
(
    WAGES, PURCHASES, LOANS, REPAID, INTEREST, WRITTEN_OFF, DEFAULT_GAP, DIVIDENDS,
    BANK_DIVIDENDS, TAX, RESEARCH, RESEARCH_PAID, EXITS, ENTRIES, ENTRIES_PAID,
    RESCUES,
) = range(len(FLOWS))  # fmt: skip

SECTORS = ("firms", "households", "banks", "outside")
"""Who has money: the entries of the field ``balance``. Of banks it is equity, and what is outside
is what left the economy since the start, less what came in."""

TALLIES = (
    "vacancies", "hired", "fired_excess", "fired_money", "expired", "workers", "borrowers",
    "failed_firms", "failed_banks", "hedge", "ponzi", "hedge_first", "ponzi_first", "hedge_flow",
    "soldout", "demand", "budget", "worth", "output",
)  # fmt: skip
(
    VACANCIES, HIRED, FIRED_EXCESS, FIRED_MONEY, EXPIRED, WORKERS, BORROWERS,
    FAILED_FIRMS, FAILED_BANKS, HEDGE, PONZI, HEDGE_FIRST, PONZI_FIRST, HEDGE_FLOW,
    SOLDOUT, DEMAND, BUDGET, WORTH, OUTPUT,
) = range(len(TALLIES))  # fmt: skip
"""Places open, persons, firms and banks; then sums over firms and households: credit wanted, money
for shopping, net worth in grains, output in 2**-20 goods."""
