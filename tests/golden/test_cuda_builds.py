"""Do the kernels of the golden configurations compile for CUDA, with no operation fused?

NVRTC needs no GPU. `cuda_on_paper` stands for one, so that every kernel is also given arguments of
the sizes that it reads.
"""

import pytest
from cuda_on_paper import FUSED, LOOSE, Paper, device, nvrtc_or_skip
from marks import thorough_but
from test_golden import golden

from societies.opencl.cuda import compiler
from societies.workload.running.engines import DeviceEngine
from societies.workload.running.registry import workload

QUICK = {"matmul quickstart", "havannah quickstart"}
FUSING = {"matmul quickstart"}
REPEATED = {
    *("no_trade", "trade", "6x9", "13x7 in five societies", "5x70", "1x2", "groups", "shocks"),
    *("inverse_geometric", "unit price", "3x300", "2x1024", "tools", "devices without trade"),
    *("interventions", "chess match", "connect6 match", "kalah match", "havannah match"),
    *("raytracer glass", "kalah solved", "all devices"),
}
"""Configurations that have the kernels of others with other numbers. They take most of the time;
`golden.py --device cuda` compiles and runs them."""

TRIED = [name for name in golden.CONFIGS if name not in REPEATED]


@pytest.mark.parametrize("name", thorough_but(QUICK, TRIED))
def test_all_kernels_compile_and_take_their_arguments(name, tmp_path, monkeypatch):
    nvrtc_or_skip()
    monkeypatch.setenv("SOCIETIES_CACHE_DIR", str(tmp_path))
    texts, compile_text = [], compiler.compile_text

    def noted(*given):
        made = compile_text(*given)
        texts.append(made[0])
        return made

    monkeypatch.setattr(compiler, "compile_text", noted)
    config = golden.configuration(name)
    one = workload(config.workload)
    p, paper = one.parameters(config), Paper()
    copies = {"first": one.first(config), "copies": one.count(config)}
    engine = DeviceEngine(one, p, device(paper), **copies)
    engine.start()
    assert texts and all(not LOOSE.search(text) for text in texts)
    assert any(FUSED.search(text) for text in texts) == (name in FUSING)
