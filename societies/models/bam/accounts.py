"""Who pays whom in an economy? The rows of the table of flows, whose rows and columns add up to 0.

Banks hold the deposits of firms and households, lend, and have reserves. Reserves are a claim on
the account `outside`: money that the model creates comes from it, money that it destroys goes to
it. Rows are payments, then changes of debts (on such tables: W. Godley and M. Lavoie, "Monetary
Economics", 2007).
"""

from societies.models.bam.flows import SECTORS
from societies.workload.declare.accounts import Accounts, Payment

FIRMS, HOUSEHOLDS, BANKS, OUTSIDE = SECTORS

ACCOUNTS = Accounts(
    payments=(
        Payment("wages", ["wages"], FIRMS, HOUSEHOLDS),
        Payment("purchases", ["purchases"], HOUSEHOLDS, FIRMS),
        Payment("interest", ["interest"], FIRMS, BANKS),
        Payment("dividends of firms", ["dividends"], FIRMS, HOUSEHOLDS),
        Payment("dividends of banks", ["bank_dividends"], BANKS, HOUSEHOLDS),
        Payment("tax", ["tax"], FIRMS, OUTSIDE),
        Payment("research", ["research"], FIRMS, OUTSIDE),
        Payment("research, to households", ["research_paid"], FIRMS, HOUSEHOLDS),
        Payment("loans written off", ["written_off"], BANKS, FIRMS),
        Payment("seized from defaulters", ["default_gap"], FIRMS, OUTSIDE),
        Payment("exit of firms", ["exits"], FIRMS, OUTSIDE),
        Payment("entry of firms", ["entries"], OUTSIDE, FIRMS),
        Payment("entry, from households", ["entries_paid"], HOUSEHOLDS, FIRMS),
        Payment("entry of banks", ["rescues"], OUTSIDE, BANKS),
        Payment("loans granted", ["loans"], BANKS, FIRMS),
        Payment("loans repaid or written off", ["repaid", "written_off"], FIRMS, BANKS),
    ),
    deposits=(FIRMS, HOUSEHOLDS),
    bank=BANKS,
    outside=OUTSIDE,
    unit="grains (2^-20 of the currency)",
)
