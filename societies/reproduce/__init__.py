"""Does it still do what was published? Figures of the paper and of others, each by one command."""

from societies.reproduce.catalogue import PAPER, SOCIETIES, chosen, figures, rows
from societies.reproduce.companions import COMPANIONS
from societies.reproduce.running import Options, carry_out, carry_out_part, has_scripts

__all__ = [
    "COMPANIONS",
    "PAPER",
    "SOCIETIES",
    "Options",
    "carry_out",
    "carry_out_part",
    "chosen",
    "figures",
    "has_scripts",
    "rows",
]
