"""Do workgroups that share tasks (economy/crew.cl) do each once, one round after the other?"""

from pathlib import Path

import numpy as np
import pytest

from societies.opencl import Program, choose_device

CASES = str(Path(__file__).parent / "crew_cases.cl")
SOCIETIES, ROUNDS, EACH = 3, 5, 4


@pytest.mark.parametrize("alone", [0, 1])
@pytest.mark.parametrize("patience", [1, 5000])
@pytest.mark.parametrize("workgroups", [1, 9])
def test_rounds_follow_each_other(patience, alone, workgroups):
    device = choose_device("cpu")
    kernel = Program(device, [CASES], macros={"PATIENCE": patience}).kernel("tasks")
    crews = device.zeros((SOCIETIES, 3), np.uint32)
    for _ in range(20):  # the words are 0 again after each
        clock, (began, ended) = (
            device.zeros(2, np.uint32),
            (device.zeros((SOCIETIES, 1 + ROUNDS * EACH), np.uint32) for _ in range(2)),
        )
        kernel(
            global_size=SOCIETIES * workgroups, local_size=1, crews=crews, clock=clock,
            began=began, ended=ended, rounds=ROUNDS, each=EACH, alone=alone, workgroups=workgroups,
        )  # fmt: skip
        assert not crews.get().any()
        first, last = began.get(), ended.get()
        stamps = np.sort(np.concatenate([first, last], axis=None))
        assert stamps.tolist() == list(range(1, stamps.size + 1))  # each task once
        for society in range(SOCIETIES):
            before = last[society, 0]
            for own in range(1, 1 + ROUNDS * EACH, EACH):
                for tasks in (slice(own, own + alone), slice(own + alone, own + EACH)):
                    if tasks.start < tasks.stop:
                        assert before < first[society, tasks].min()
                        before = last[society, tasks].max()
