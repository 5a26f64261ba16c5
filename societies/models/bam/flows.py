"""Which payments are there, and who has money? Entries of the fields ``flow`` and ``balance``.

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

SECTORS = ("firms", "households", "banks", "outside")
"""Who has money: the entries of the field ``balance``. Of banks it is equity, and what is outside
is what left the economy since the start, less what came in."""
