"""Does it still do what was published? Figures of the paper and of others, each by one command."""

from societies.reproduce.catalogue import PAPER, SOCIETIES, figure_rows, figures, figures_named
from societies.reproduce.companions import COMPANIONS
from societies.reproduce.running import Options, carry_out, carry_out_part, has_scripts

__all__ = [
    "COMPANIONS",
    "PAPER",
    "SOCIETIES",
    "Options",
    "carry_out",
    "carry_out_part",
    "figure_rows",
    "figures",
    "figures_named",
    "has_scripts",
]
