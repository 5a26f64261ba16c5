"""Which device is taken, from made-up lists of platforms."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

from societies.errors import DeviceError
from societies.opencl import choose_device, list_devices, select
from societies.opencl.debug import debug_mode
from societies.opencl.device import Device

CPU, GPU, ACCELERATOR = 2, 4, 8


def fake_device(name, kind, fp64=True, **facts):
    facts = {"available": 1, "max_work_group_size": 1024, "local_mem_size": 49152} | facts
    extensions = "cl_khr_fp64" if fp64 else "cl_khr_byte_addressable_store"
    return SimpleNamespace(name=name, type=kind, extensions=extensions, **facts)


def fake_platform(name, *devices, version="OpenCL 3.0"):
    return SimpleNamespace(name=name, version=version, get_devices=lambda: list(devices))


OCLGRIND = fake_platform("Oclgrind", fake_device("Oclgrind Simulator", CPU | GPU | ACCELERATOR))
NVIDIA = fake_platform("NVIDIA CUDA", fake_device("NVIDIA H100", GPU))
GEFORCE = fake_platform("CUDA", fake_device("NVIDIA GeForce RTX 4090", GPU))
POCL_OLD = fake_platform(
    "Portable Computing Language", fake_device("pthread-old", CPU), version="OpenCL 3.0 PoCL 3.0"
)
POCL_NEW = fake_platform(
    "Portable Computing Language", fake_device("pthread-new", CPU), version="OpenCL 3.0 PoCL 3.1"
)
INTEL = fake_platform("Intel(R) OpenCL", fake_device("Intel Xeon", CPU))
OTHER_CPU = fake_platform("Another", fake_device("another cpu", CPU))
FULL = [OCLGRIND, NVIDIA, POCL_OLD, INTEL]


@pytest.fixture(autouse=True)
def no_default(monkeypatch):
    monkeypatch.delenv("SOCIETIES_DEVICE", raising=False)
    monkeypatch.delenv("SOCIETIES_DEBUG", raising=False)


def test_auto_takes_the_gpu_although_a_simulator_comes_first():
    device = choose_device("auto", FULL)
    assert (device.name, device.index, device.kind) == ("NVIDIA H100", "1:0", "gpu")
    assert not device.simulator
    assert "gpu" in device.reason


def test_gpu_then_accelerator_then_cpu():
    accelerator = fake_platform("FPGA", fake_device("board", ACCELERATOR))
    assert choose_device(None, [POCL_OLD, accelerator, NVIDIA]).name == "NVIDIA H100"
    assert choose_device(None, [POCL_OLD, accelerator]).name == "board"
    assert choose_device(None, [POCL_OLD]).name == "pthread-old"


def test_order_of_the_cpu_implementations():
    platforms = [OTHER_CPU, POCL_OLD, POCL_NEW, INTEL]
    order = []
    while platforms:
        name = choose_device("cpu", platforms).name
        order.append(name)
        platforms = [p for p in platforms if p.get_devices()[0].name != name]
    assert order == ["pthread-new", "pthread-old", "Intel Xeon", "another cpu"]


def test_cpu_is_taken_although_a_gpu_exists():
    assert choose_device("cpu", FULL).name == "pthread-old"


@pytest.mark.parametrize("spec", ["auto", "cpu", "gpu", "accelerator"])
def test_a_simulator_is_never_taken_unasked(spec):
    with pytest.raises(DeviceError):
        choose_device(spec, [OCLGRIND])


@pytest.mark.parametrize("spec", ["oclgrind", "Simulator", "0:0", "oclgrind:simulator"])
def test_a_simulator_is_taken_when_asked_for(spec):
    assert choose_device(spec, FULL).simulator


@pytest.mark.parametrize("spec", ["auto", "cpu", "0:0", "anything"])
def test_nothing_found_says_what_to_install(spec):
    with pytest.raises(DeviceError) as caught:
        choose_device(spec, [])
    first, *hints = str(caught.value).split("\n")
    assert first.startswith("no OpenCL device found: ")
    assert str(caught.value).endswith(select.source_of_one())
    assert len(hints) <= 1


@pytest.mark.parametrize(
    ("system", "processor", "words"),
    [
        ("linux", "x86_64", "pip install pocl-binary-distribution"),
        ("linux", "aarch64", "apt install pocl-opencl-icd"),
        ("darwin", "arm64", "conda install -c conda-forge pyopencl pocl"),
        ("darwin", "x86_64", "conda install -c conda-forge pyopencl pocl"),
        ("win32", "AMD64", "Intel's CPU Runtime for OpenCL"),
        ("freebsd14", "amd64", "conda install"),
    ],
)
def test_what_to_install_depends_on_the_system(system, processor, words):
    hint = select.source_of_one(system, processor)
    first, second = hint.split("\n")
    assert words in first
    assert second


def test_pip_is_asked_for_an_opencl_only_where_it_has_one():
    """Elsewhere a requirement without a wheel would end the installation."""
    project = Path(__file__).resolve().parents[2] / "pyproject.toml"
    wanted = tomllib.loads(project.read_text())["project"]["dependencies"]
    (pocl,) = (line for line in wanted if "pocl" in line)
    marker = Requirement(pocl).marker
    for system, machine, has in [
        ("linux", "x86_64", True),
        ("linux", "aarch64", False),
        ("darwin", "arm64", False),
        ("darwin", "x86_64", False),
        ("win32", "AMD64", False),
    ]:
        assert marker.evaluate({"sys_platform": system, "platform_machine": machine}) is has


def test_without_a_double_precision_device_it_is_said_where_to_get_one():
    apple = fake_platform("Apple", fake_device("Apple M1", GPU, fp64=False))
    with pytest.raises(DeviceError, match=r"double precision \(fp64\): .*Apple M1") as caught:
        choose_device("auto", [apple])
    assert str(caught.value).splitlines()[1:] == select.source_of_one().splitlines()[:1]


@pytest.mark.parametrize("spec", ["auto", "cpu", "PoCL 3.0"])
def test_pocl_without_a_linker_is_refused_before_it_ends_the_process(spec, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DeviceError) as caught:
        choose_device(spec, [POCL_OLD])
    assert re.search(r"linker|links kernels with the program ld", str(caught.value))
    assert "apt install gcc" in str(caught.value)
    assert len(str(caught.value).split("\n")) == 2


@pytest.mark.parametrize(("code", "refused"), [(-6, True), (0, False)])
def test_a_newer_pocl_is_tried_in_another_process(code, refused, monkeypatch):
    """PoCL 5 of Debian ends the process as well; others bring a linker."""
    newer = fake_platform(
        "Portable Computing Language", fake_device("newer", CPU), version="OpenCL 3.0 PoCL 5.0"
    )
    tried = []

    def run(words, env, **_):
        tried.append((words[-1], env["POCL_CACHE_DIR"]))
        return subprocess.CompletedProcess(words, code)

    select._builds.cache_clear()
    monkeypatch.setattr(select.subprocess, "run", run)
    assert choose_device("auto", [newer]).name == "newer" and not tried  # ld is on the PATH
    monkeypatch.setenv("PATH", "")
    if refused:
        with pytest.raises(DeviceError, match="links kernels with the program ld"):
            choose_device("auto", [newer])
    else:
        assert choose_device("auto", [newer]).name == "newer"
    assert [index for index, _ in tried] == ["0:0"]
    select._builds.cache_clear()


@pytest.mark.ci
def test_what_tries_a_device_builds_and_launches_on_a_real_one():
    select._builds.cache_clear()
    assert select._builds("0:0")
    assert not select._builds("7:7")


def test_auto_prefers_a_device_for_which_kernels_can_be_built(monkeypatch):
    newer = fake_platform(
        "Portable Computing Language", fake_device("newer", CPU), version="OpenCL 3.0 PoCL 7.1"
    )
    assert shutil.which("ld"), "these tests need binutils: PoCL cannot do without"
    assert choose_device("auto", [POCL_OLD, INTEL]).name == "pthread-old"
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(select, "_builds", lambda index: True)
    assert choose_device("auto", [POCL_OLD, INTEL]).name == "Intel Xeon"
    assert choose_device("auto", [POCL_OLD, newer]).name == "newer"


def test_a_platform_that_fails_to_list_its_devices_is_passed_over():
    def fail():
        raise RuntimeError("CL_DEVICE_NOT_FOUND")

    broken = SimpleNamespace(name="broken", version="", get_devices=fail)
    assert choose_device("auto", [broken, POCL_OLD]).index == "1:0"


def test_auto_passes_over_a_gpu_without_double_precision_and_reports_it():
    single = fake_platform("Small", fake_device("small gpu", GPU, fp64=False))
    device = choose_device("auto", [single, POCL_OLD])
    assert device.name == "pthread-old"
    assert "small gpu" in device.reason


@pytest.mark.parametrize("spec", ["gpu", "small", "0:0"])
def test_a_device_without_double_precision_is_refused_when_asked_for(spec):
    single = fake_platform("Small", fake_device("small gpu", GPU, fp64=False))
    with pytest.raises(DeviceError, match=r"double precision.*small gpu|small gpu.*double"):
        choose_device(spec, [single, POCL_OLD])


def test_an_unavailable_gpu_is_passed_over():
    lost = fake_platform("Lost", fake_device("lost gpu", GPU, available=0))
    assert choose_device("auto", [lost, POCL_OLD]).name == "pthread-old"
    with pytest.raises(DeviceError, match="not available"):
        choose_device("lost", [lost, POCL_OLD])


@pytest.mark.parametrize(
    "spec, name",
    [
        ("1:0", "NVIDIA H100"),
        ("h100", "NVIDIA H100"),
        ("portable", "pthread-old"),
        ("nvidia:0", "NVIDIA H100"),
        ("intel:xeon", "Intel Xeon"),
        ("PoCL 3.0", "pthread-old"),
        ("4090", "NVIDIA GeForce RTX 4090"),
    ],
)
def test_explicit_choices(spec, name):
    device = choose_device(spec, [*FULL, GEFORCE])
    assert device.name == name
    assert spec in device.reason


def test_a_name_that_fits_several_devices_lists_them():
    two = fake_platform("NVIDIA CUDA", fake_device("H200", GPU), fake_device("H200", GPU))
    with pytest.raises(DeviceError) as caught:
        choose_device("h200", [POCL_OLD, two])
    assert "1:0 H200" in str(caught.value) and "1:1 H200" in str(caught.value)
    assert choose_device("1:1", [POCL_OLD, two]).index == "1:1"


@pytest.mark.parametrize("spec", ["radeon", "7:3", "1:9", "gpu", "0", "3", "30"])
def test_a_missing_device_is_refused_with_a_list_of_the_available(spec):
    with pytest.raises(DeviceError, match="pthread-old"):
        choose_device(spec, [POCL_OLD])


def test_environment_variable_replaces_auto_only(monkeypatch):
    monkeypatch.setenv("SOCIETIES_DEVICE", "cpu")
    device = choose_device("auto", FULL)
    assert device.kind == "cpu"
    assert "SOCIETIES_DEVICE" in device.reason
    assert choose_device("gpu", FULL).kind == "gpu"


def test_debug_mode_prefers_the_cpu(monkeypatch):
    monkeypatch.setenv("SOCIETIES_DEBUG", "1")
    device = choose_device("auto", FULL)
    assert device.kind == "cpu"
    assert "-cl-opt-disable" in device.build_options


def test_debug_variable_has_two_values(monkeypatch):
    monkeypatch.setenv("SOCIETIES_DEBUG", "0")
    assert not debug_mode()
    monkeypatch.setenv("SOCIETIES_DEBUG", "yes")
    with pytest.raises(DeviceError, match="SOCIETIES_DEBUG=yes"):
        debug_mode()


def test_installed_devices_are_listed_with_their_facts(device):
    listed = {d.index: d for d in list_devices()}
    same = listed[device.index]
    assert same.name == device.name and same.platform == device.platform
    assert device.reason and not same.reason
    assert device.compute_units >= 1 and device.max_workgroup >= 1 and device.warp >= 1
    assert 0 < device.max_alloc <= device.global_memory
    assert device.local_memory > 0 and device.driver


def test_builds_never_relax_arithmetic(device):
    assert "-cl-kernel-arg-info" in device.build_options
    assert not any("fast" in o or "unsafe" in o or "mad" in o for o in device.build_options)


def test_only_nvidia_is_asked_for_few_registers():
    device = choose_device("cpu")
    assert device.options_for(registers=64) == device.options_for(registers=0) == ()
    gpu = SimpleNamespace(platform="NVIDIA CUDA")
    assert Device.options_for(gpu, 64) == ("-cl-nv-maxrregcount=64",)
    assert Device.options_for(gpu, 0) == ()
