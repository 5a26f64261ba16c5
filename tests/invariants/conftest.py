"""What the invariants share: societies that have something to trade from the first day on."""

import numpy as np
import pytest


@pytest.fixture
def endow():
    """Return a function that gives every agent random goods and skills, by a seed.

    It returns the state given, so that another engine can be given the same.
    """

    def give(engine, seed=1):
        rng = np.random.default_rng(seed)
        state = engine.state()
        shape = state["held"].shape
        state["held"] = (rng.random(shape) ** 3 * 60).astype(np.int32)  # a fifth of it nothing
        state["experience"] = rng.random(shape) ** 4 * 600
        state["value"] = 20.0 + rng.random(shape) * 580  # memory may be wrong in any way
        engine.load(state)
        return state

    return give
