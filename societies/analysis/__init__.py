"""What does a result show? Statistics and figures from the dataset of a run."""

from societies.analysis.plot import plot_overview

__all__ = ["plot_overview"]
