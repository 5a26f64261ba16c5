"""What does a model in one file import? Its rules are plain Python and need nothing else.

A `Model` names its phases, which are functions of its module. They are the reference and are
translated to kernels: docs/write-a-model.md shows how, docs/rules-in-python.md what is possible.
"""

from reference_py.primitives.bounded import Bounded
from reference_py.primitives.permute import random_matching, random_permutation
from reference_py.primitives.reduce import reduce_sum
from reference_py.primitives.rng import Rng
from reference_py.primitives.softmath import soft_exp, soft_log, soft_pow
from societies.config.model import initial, key, shape, value
from societies.model.declared import Model
from societies.workload import Count, Events, Field, Phase, Series, Step, falls, rises
from societies.workload.declare.config import DailyConfig, QuarterlyConfig
from societies.workload.declare.scene import Grid, Links, Policy, Scene

__all__ = [
    "Bounded",
    "Count",
    "DailyConfig",
    "Events",
    "Field",
    "Grid",
    "Links",
    "Model",
    "Phase",
    "Policy",
    "QuarterlyConfig",
    "Rng",
    "Scene",
    "Series",
    "Step",
    "falls",
    "initial",
    "key",
    "random_matching",
    "random_permutation",
    "reduce_sum",
    "rises",
    "shape",
    "soft_exp",
    "soft_log",
    "soft_pow",
    "value",
]
