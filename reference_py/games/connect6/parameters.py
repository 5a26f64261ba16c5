"""What is a search of Connect6 given besides?"""

from dataclasses import dataclass

from reference_py.games.ngtsg.parameters import SearchParameters

WORDS_OF_A_SIDE = 12
"""Words that hold the 361 points of a side, 32 each."""


@dataclass(frozen=True)
class Connect6Parameters(SearchParameters):
    """A search of Connect6.

    Attributes
    ----------
    singles : candidate points that are paired, K1
    full_width : whether a node has exactly `width` children: neither a win nor a complete row of
        six ends a line
    prover : own turns in which a win by threats alone is looked for before the search
    """

    singles: int = 16
    full_width: bool = False
    prover: int = 0
