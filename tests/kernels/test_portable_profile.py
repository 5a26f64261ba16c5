"""Do the shipped sizes run on every device we care about: 256 work-items, 32 KiB local memory?"""

import math
from functools import partial
from types import SimpleNamespace

import pytest
from marks import in_turn, offenders, some_and_others, thorough_but

from societies import config_from_dict, load_config
from societies.errors import DeviceError
from societies.localmem import plan_source
from societies.model import Model
from societies.opencl import Local, Program, choose_device
from societies.opencl.device import PORTABLE_LOCAL_MEMORY, PORTABLE_WORKGROUP
from societies.paths import shipped_configurations
from societies.workload import Setup
from societies.workload.declare.phases import WORKGROUP_LIMIT
from societies.workload.running.engines import DeviceEngine, full_kernel_text
from societies.workload.running.registry import workload

DEVICES = [
    SimpleNamespace(kind="cpu", warp=1, max_workgroup=4096, compute_units=2),
    SimpleNamespace(kind="gpu", warp=32, max_workgroup=1024, compute_units=132),
    SimpleNamespace(kind="gpu", warp=64, max_workgroup=256, compute_units=4),
]
TAKEN = 16
"""Bytes of local memory that NVIDIA's OpenCL adds to those of a kernel."""

BIG = """
__kernel void large(__global int *out, __local int *more)
{
    __local int x[ENTRIES];
    const uint lid = get_local_id(0);
    x[lid] = more[lid] = lid;
    barrier(CLK_LOCAL_MEM_FENCE);  // both
    out[lid] = x[lid ^ 1u] + more[lid ^ 1u];
}
"""


@pytest.fixture(scope="module")
def device():
    return choose_device("auto")


def too_large(kernels, workgroup):
    """Return the kernels beyond the profile, with what they need."""
    return {
        kernel.name: (kernel.static_local_memory, min(workgroup, kernel.max_workgroup))
        for kernel in kernels
        if kernel.static_local_memory > PORTABLE_LOCAL_MEMORY
        or workgroup > min(PORTABLE_WORKGROUP, kernel.max_workgroup)
    }


def loaded(settings):
    """Return the workload, its parameters and how many copies there are."""
    read = load_config if isinstance(settings, str) else config_from_dict
    config = read(settings)
    chosen = workload(config.workload)
    return chosen, config, chosen.parameters(config), chosen.count(config)


def kernels_of(chosen, p, copies, on_cpu):
    """Return the names of the kernels that a configuration launches on a CPU, or on a GPU."""
    table = chosen.phases(p, copies).items()
    launched = [(phase, one) for phase, declared in table for one in declared.launches]
    return {one.kernel or phase for phase, one in launched if one.on_cpu in (None, on_cpu)}


def planned(settings, on_cpu):
    """Return by kernel the local memory that is fixed when it is built."""
    chosen, config, *_ = loaded(settings)
    plan = plan_source(
        partial(full_kernel_text, Setup(chosen, config)), {"DEVICE_IS_CPU": str(int(on_cpu))}
    )
    return {name: kernel.total for name, kernel in plan.kernels.items()}


SIZES = {
    **{name: name for name in shipped_configurations()},
    "256 resources": {"workload": "economy", "resources": 256, "devices": "all"},
    "1024 resources": {"workload": "economy", "resources": 1024, "devices": "all"},
    "plates of any width": {"workload": "laplace", "rows": 3, "columns": 46_340, "steps": 1}
    | {"conductor": "none"},
    **{
        f"plates {variant} {precision}": {"workload": "laplace", "steps": 1}
        | {"variant": variant, "precision": precision}
        for variant in ("tiled", "deep")
        for precision in ("single", "double")
    },
}


LONG = (
    *(
        f"economy/{name}"
        for name in ("heterogeneous", "long_run", "shock", "tools", "no_trade", "trade")
    ),
    "256 resources",
    "1024 resources",
)
"""Configurations that need no more local memory than others that are compared in every run."""


WITHOUT_LOCAL_MEMORY = (
    "raytracer",
    "kalah_solve",
    "blur",
    "matmul",
    "chess_match",
    "connect6_match",
    "havannah_match",
)
"""Workloads, besides those in Python alone, of which no form needs local memory, or not that of a
shipped configuration."""


ALL = [(name, on_cpu) for name in SIZES if name not in LONG for on_cpu in (True, False)]
QUICK = [(name, on_cpu) for name, on_cpu in ALL if on_cpu == (name == "economy/devices")]
"""A GPU needs the most local memory; on a CPU, where a workgroup of most kernels has one work-item,
every run tries the configuration with the most arrays in it, which takes long to build."""


def beyond_profile(size):
    """Return what of a configuration is unknown, or too large for a device of the profile."""
    name, on_cpu = size
    chosen, _, p, copies = loaded(SIZES[name])
    needs = planned(SIZES[name], on_cpu)
    found = []
    if needs or not (chosen.name in WITHOUT_LOCAL_MEMORY or isinstance(chosen, Model)):
        launched = kernels_of(chosen, p, copies, on_cpu)
        found += [f"{one} is not planned" for one in launched - set(needs)]
    room = PORTABLE_LOCAL_MEMORY if on_cpu else PORTABLE_LOCAL_MEMORY - TAKEN
    found += [f"{one} needs {n} bytes" for one, n in needs.items() if n > room]
    for device in DEVICES:
        count = chosen.work_items(p, copies, device)
        if count > min(PORTABLE_WORKGROUP, device.max_workgroup):
            found.append(f"{count} work-items on {device}")
    given = [one.items for row in chosen.phases(p, copies).values() for one in row.launches]
    items = [(one,) if isinstance(one, int) else one for one in given]
    return found + [f"{one} work-items" for one in items if math.prod(one) > WORKGROUP_LIMIT]


@pytest.mark.ci
@pytest.mark.parametrize(
    "sizes",
    some_and_others(
        QUICK, [*ALL, ("1024 resources", True), *in_turn(LONG[::-1], [False, True], 1)]
    ),
)
def test_shipped_and_large_sizes_fit_the_portable_profile(sizes):
    assert offenders(beyond_profile, sizes) == {}
    assert WORKGROUP_LIMIT <= PORTABLE_WORKGROUP


SEEN = ["economy/quickstart", "economy/devices", "physics/laplace/quickstart"]


@pytest.mark.ci
@pytest.mark.parametrize("name", thorough_but(SEEN[::2], SEEN))
def test_what_is_planned_is_what_the_device_sees(device, name):
    chosen, _, p, copies = loaded(name)
    needs = planned(name, device.kind == "cpu")
    program = DeviceEngine(chosen, p, device, copies=copies).program
    kernels = [program.kernel(name) for name in program.kernel_names]
    # all of it is static: no kernel takes local memory as an argument
    assert not [q for kernel in kernels for q in kernel.parameters if q.space == "local"]
    assert too_large(kernels, chosen.work_items(p, copies, device)) == {}
    seen = {kernel.name: kernel.static_local_memory for kernel in kernels}
    for kernel, need in needs.items():
        assert need <= seen[kernel] + 16, kernel


def planted(device, tmp_path, entries):
    path = tmp_path / "large.cl"
    path.write_text(BIG)
    return Program(device, path, macros={"ENTRIES": entries}).kernel("large")


def test_a_planted_kernel_beyond_the_profile_is_seen(device, tmp_path):
    fits = planted(device, tmp_path, PORTABLE_LOCAL_MEMORY // 4)
    assert too_large([fits], PORTABLE_WORKGROUP) == {}
    assert "large" in too_large([fits], PORTABLE_WORKGROUP + 1)
    assert "large" in too_large([planted(device, tmp_path, PORTABLE_LOCAL_MEMORY // 4 + 1)], 8)


@pytest.mark.parametrize(
    ("entries", "more", "workgroup"),
    [(PORTABLE_LOCAL_MEMORY // 4 - 8, 9, 8), (8192 + 1, 1, 8), (8, 8, PORTABLE_WORKGROUP + 2)],
    ids=["arguments", "static", "workgroup"],
)
def test_a_launch_beyond_the_profile_is_refused(device, tmp_path, entries, more, workgroup):
    kernel = planted(device, tmp_path, entries)
    with pytest.raises(DeviceError, match="portable profile"):
        kernel(
            out=device.zeros(512, "int32"),
            more=Local("int32", more),
            global_size=workgroup,
            local_size=workgroup,
        )
