"""How is a model validated and calibrated: from a model that runs to a credible one?"""

from societies.study.simulate import Simulator, simulator
from societies.study.targets import Targets, load_targets

__all__ = ["Simulator", "Targets", "load_targets", "simulator"]
