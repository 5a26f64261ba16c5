"""Which payments are there? The entries of the field ``flow``, in grains of a quarter, and stocks.

The table of flows (`societies.models.bam.accounts`) follows from them.
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

STOCKS = ("cash", "deposits", "equity", "outside")
"""Money at the end of a quarter: of firms, of households, of banks, and the account outside."""
