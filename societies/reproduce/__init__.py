"""Does the model still do what was published? Figures of the paper, each by one command."""

from societies.reproduce.catalogue import EXPERIMENTS, chosen, figures, rows
from societies.reproduce.running import Options, carry_out, carry_out_experiment

__all__ = [
    "EXPERIMENTS",
    "Options",
    "carry_out",
    "carry_out_experiment",
    "chosen",
    "figures",
    "rows",
]
