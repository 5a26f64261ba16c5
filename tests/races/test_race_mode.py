"""What is read from Oclgrind's log, and which device SOCIETIES_DEBUG=race takes."""

from types import SimpleNamespace

import pytest

from societies.errors import DeviceError
from societies.opencl import choose_device, race
from societies.opencl.debug import debug_mode

RACE = """
Read-write data race at local memory address 0x1000000000004
\tKernel: stir
\t
\tFirst entity:  Global(1,0,0) Local(1,0,0) Group(0,0,0)
\t  store i32 %0, i32 addrspace(3)* %arrayidx, align 4, !dbg !44
\tAt line 2 (column 114) of my/stir.cl:
\t  #define UNRELATED
\t
\tSecond entity: Global(0,0,0) Local(0,0,0) Group(0,0,0)
\t  %4 = load i32, i32 addrspace(3)* %arrayidx4, align 4, !dbg !49
\tAt line 3 (column 140) of my/stir.cl:
\t  #define UNRELATED
\t
"""
WRITE = """
Invalid write of size 4 at global memory address 0x1000000000020
\tKernel: pour
\tEntity: Global({0},0,0) Local(0,0,0) Group({0},0,0)
\t  store i32 1, i32 addrspace(1)* %arrayidx, align 4, !dbg !41
\tAt line 1 (column 63) of my/stir.cl:
\t  #define UNRELATED
\t
"""
DIVERGENCE = """
Work-group divergence detected (barrier)
\tKernel:     wait
\tWork-group: (0,0,0)
\tOnly 2 out of 4 work-items executed barrier
\t  call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !42
\tAt line 9 of my/stir.cl:
\t  #define UNRELATED
"""
ROWS = ["first();", "  second();  ", "third();"]


def read(text):
    return race.read_log(text, {"my/stir.cl": ROWS}.get)


def test_a_race_has_two_work_items_and_two_lines_of_the_real_file():
    (found,) = read(RACE)
    assert (found.kind, found.kernel, found.space) == (race.RACE, "stir", "local")
    assert found.items == ("1,0,0 / 1,0,0 / 0,0,0", "0,0,0 / 0,0,0 / 0,0,0")
    assert [str(place) for place in found.places] == [
        "my/stir.cl:2: second();",
        "my/stir.cl:3: third();",
    ]
    assert str(found) == (
        "stir: Read-write data race at local memory: "
        "my/stir.cl:2: second(); and my/stir.cl:3: third();"
    )


def test_the_same_line_counts_once_for_all_work_items():
    assert len(read("".join(WRITE.format(i) for i in range(5)))) == 1
    assert len(read(WRITE.format(0) + RACE + WRITE.format(1) + DIVERGENCE)) == 3


def test_every_kind_is_distinguished():
    kinds = [f.kind for f in read(RACE + WRITE.format(0) + DIVERGENCE)]
    assert kinds == [race.RACE, race.BOUNDS, race.DIVERGENCE]
    rest = read("\nControlflow depends on uninitialized value\n\tKernel: a\n\nSomething new\n")
    assert [f.kind for f in rest] == [race.UNINITIALISED, race.OTHER]
    assert read("") == read("\n\n") == []


def test_a_line_that_the_file_does_not_have_is_named_without_text():
    (found,) = read(DIVERGENCE)
    assert str(found.places[0]) == "my/stir.cl:9"


def test_the_report_names_kernels_lines_and_log():
    found = read(RACE + WRITE.format(0) + DIVERGENCE)
    first, *rows = race.summary(found * 2, "my.log", 4).split("\n")
    assert first == "SOCIETIES_DEBUG=race: 6 findings in pour, stir, wait; log: my.log"
    assert len(rows) == 4 and rows[-1].strip() == "and 3 more"
    assert race.summary(found[:1], "l", 1).startswith("SOCIETIES_DEBUG=race: 1 finding in stir;")
    assert "nothing in 4 kernels" in race.summary([], "l", 4)
    assert "no kernel was run" in race.summary([], "l", 0)


# ---------------------------------------------------------------- which device

CPU, GPU, ACCELERATOR = 2, 4, 8


def platform(name, device, kind):
    facts = {"available": 1, "max_work_group_size": 1024, "extensions": "cl_khr_fp64"}
    one = SimpleNamespace(name=device, type=kind, **facts)
    return SimpleNamespace(name=name, version="OpenCL 1.2", get_devices=lambda: [one])


NVIDIA = platform("NVIDIA CUDA", "NVIDIA H100", GPU)
OCLGRIND = platform("Oclgrind", "Oclgrind Simulator", CPU | GPU | ACCELERATOR)


@pytest.fixture
def race_mode(monkeypatch):
    monkeypatch.setenv("SOCIETIES_DEBUG", "race")
    monkeypatch.delenv("SOCIETIES_DEVICE", raising=False)


@pytest.mark.usefixtures("race_mode")
def test_race_mode_takes_the_simulator_and_reports_it():
    device = choose_device("auto", [NVIDIA, OCLGRIND])
    assert device.simulator and "SOCIETIES_DEBUG=race" in device.reason
    assert not debug_mode()


@pytest.mark.usefixtures("race_mode")
@pytest.mark.parametrize("kind", ["cpu", "gpu", "accelerator"])
def test_the_simulator_poses_as_the_kind_asked_for(kind):
    device = choose_device(kind, [NVIDIA, OCLGRIND])
    assert device.simulator and device.kind == kind


@pytest.mark.usefixtures("race_mode")
@pytest.mark.parametrize("spec", ["nvidia", "0:0", "H100"])
def test_race_mode_runs_nowhere_else(spec):
    with pytest.raises(DeviceError, match="runs on Oclgrind"):
        choose_device(spec, [NVIDIA, OCLGRIND])


@pytest.mark.usefixtures("race_mode")
@pytest.mark.parametrize("spec", ["oclgrind", "1:0", "Oclgrind:Simulator"])
def test_the_simulator_may_be_named(spec):
    assert choose_device(spec, [NVIDIA, OCLGRIND]).simulator


@pytest.mark.usefixtures("race_mode")
@pytest.mark.parametrize("platforms", [[], [NVIDIA]])
def test_without_oclgrind_the_message_says_how_to_install_it(platforms):
    with pytest.raises(DeviceError) as caught:
        choose_device("auto", platforms)
    assert "apt install oclgrind" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_nothing_is_recorded_in_a_process_that_did_not_ask():
    if race.race_mode():
        pytest.skip("this process did ask")
    with pytest.raises(DeviceError, match="SOCIETIES_DEBUG=race"), race.recording():
        pass
    with pytest.raises(DeviceError, match="SOCIETIES_DEBUG=race"):
        race.findings()


def test_the_simulator_is_built_without_optimisation_and_never_cached(monkeypatch):
    monkeypatch.delenv("SOCIETIES_DEBUG", raising=False)
    device = choose_device("oclgrind", [OCLGRIND])
    assert "-cl-opt-disable" in device.build_options
    assert "-cl-opt-disable" not in choose_device("auto", [NVIDIA]).build_options
