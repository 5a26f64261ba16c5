"""Does PoCL leave a branch behind a barrier to each work-item, in the form for GPUs?

docs/design/parallel-form.md has the kernel, and says what goes wrong without the rule of real.cl.
"""

import re
from pathlib import Path

import numpy as np
import pytest

from societies.opencl import Program

PAGE = Path(__file__).resolve().parents[2] / "docs/design/parallel-form.md"
N = 15


def kernel_of_the_page():
    (text,) = re.findall(r"^```c\n(__kernel void branch.*?)^```$", PAGE.read_text(), re.M | re.S)
    return text


def wrong(device, text, work_items, tmp_path):
    """Return the elements that are not 1 though every one should be."""
    path = tmp_path / "branch.cl"
    path.write_text(text)
    kernel = Program(device, path, {"DEVICE_IS_CPU": 0}).kernel("branch")
    out = device.zeros(N + 1, np.uint32)
    kernel(global_size=(work_items,), local_size=(work_items,), out=out, n=N, stop=0)
    return np.flatnonzero(out.get()[: min(N, work_items)] != 1)


@pytest.mark.sample
@pytest.mark.parametrize("work_items", [N, N + 1, 31, 32, 64])
def test_a_branch_behind_a_barrier_is_each_work_items_own(device, work_items, tmp_path):
    text = '#include "primitives/real.cl"\n' + kernel_of_the_page()
    assert wrong(device, text, work_items, tmp_path).size == 0


@pytest.mark.ci
def test_without_the_rule_pocl_may_be_wrong(device, tmp_path, record_property):
    """Only recorded, to learn when PoCL mends it: the last work-item decides for all."""
    found = wrong(device, kernel_of_the_page(), N + 1, tmp_path)
    said = f"{device.platform_version}: {found.size} of {N} wrong without the rule"
    record_property("branch behind a barrier", said)
    print(said)
    assert wrong(device, kernel_of_the_page(), N, tmp_path).size == 0
