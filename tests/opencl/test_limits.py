"""A full cache, a cache of another user, too little memory: is it said what is wrong?"""

import errno
import io
import os
import resource
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import societies
from societies.errors import DeviceError
from societies.memory import MIB
from societies.opencl import list_devices, private

ROOT = Path(societies.__file__).parents[1]
SMALL = "workload: economy\nagents: 2\nresources: 2\ndays: 2\n"
VARIABLES = ("HOME", "XDG_CACHE_HOME", "POCL_CACHE_DIR", "TMPDIR")


@pytest.fixture
def places(tmp_path, monkeypatch):
    """A home and a temporary folder of the test's own; the variables are put back."""
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setattr(private.tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("home", "tmp"):
        (tmp_path / name).mkdir(mode=0o700)
    (tmp_path / "tmp").chmod(0o1777)
    return tmp_path


def given():
    private.give_caches()
    return Path(os.environ["POCL_CACHE_DIR"])


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_the_user_s_own_cache_stays(places):
    assert given() == places / "home/.cache/pocl/kcache"
    assert "XDG_CACHE_HOME" not in os.environ


def test_what_the_user_says_is_taken(places, monkeypatch):
    monkeypatch.setenv("POCL_CACHE_DIR", "/somewhere")
    assert given() == Path("/somewhere")


@pytest.mark.parametrize("home", [None, "", "relative", "~"])
def test_without_a_home_that_of_the_user_s_record_or_a_private_one(places, monkeypatch, home):
    monkeypatch.chdir(places)
    monkeypatch.setattr(private, "_home_of_record", lambda: str(places / "record"))
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    assert given() == places / "record/.cache/pocl/kcache"
    monkeypatch.delenv("POCL_CACHE_DIR")
    monkeypatch.setattr(private, "_home_of_record", lambda: "")
    folder = given()
    own = places / "tmp" / f"societies-{os.geteuid()}"
    assert folder == own / "pocl/kcache" and mode(own) == 0o700
    assert not (places / "~").exists() and not (places / "relative").exists()


def test_a_folder_that_others_may_write_is_not_used(places):
    for name in (".cache", ".cache/pocl", ".cache/pocl/kcache"):
        (places / "home" / name).mkdir(mode=0o700)
    (places / "home/.cache/pocl/kcache").chmod(0o777)
    assert given().is_relative_to(places / "tmp" / f"societies-{os.geteuid()}")
    os.environ.pop("POCL_CACHE_DIR")
    (places / "home/.cache").chmod(0o777)
    assert given().is_relative_to(places / "tmp" / f"societies-{os.geteuid()}")
    assert os.environ["XDG_CACHE_HOME"] == str(places / "tmp" / f"societies-{os.geteuid()}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_not_used(places):
    (places / "home/.cache").mkdir(mode=0o755)
    os.chown(places / "home/.cache", 12345, 12345)
    own = places / "tmp" / f"societies-{os.geteuid()}"
    assert given().is_relative_to(own)
    # Another user may have made our private folder before.
    shutil.rmtree(own)
    own.mkdir(mode=0o700)
    os.chown(own, 12345, 12345)
    os.environ.pop("POCL_CACHE_DIR")
    os.environ.pop("XDG_CACHE_HOME")
    folder = given()
    assert not folder.is_relative_to(own) and folder.is_relative_to(places / "tmp")
    assert folder.stat().st_uid == 0 and mode(folder.parents[1]) == 0o700


@pytest.mark.parametrize("trap", ["link", "file", "open folder"])
def test_a_private_folder_that_is_none_is_not_used(places, monkeypatch, trap):
    monkeypatch.setattr(private, "_users_cache", lambda: None)
    own = places / "tmp" / f"societies-{os.geteuid()}"
    (places / "elsewhere").mkdir()
    if trap == "link":
        own.symlink_to(places / "elsewhere")
    elif trap == "file":
        own.write_text("")
    else:
        own.mkdir()
        own.chmod(0o755)
    folder = given()
    assert folder.is_relative_to(places / "tmp") and not folder.is_relative_to(own)
    assert not any((places / "elsewhere").iterdir())


def command(folder, *words, before=None, **variables):
    (folder / "small.yaml").write_text(SMALL)
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    environment |= {"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **variables}
    return subprocess.run(
        [sys.executable, "-m", "societies", *words],
        cwd=folder,
        env={name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        preexec_fn=before,
        timeout=300,
    )


def test_pocl_without_home_leaves_the_common_temporary_folder_alone(places):
    """As configured, PoCL would take what lies in /tmp/pocl."""
    common = Path("/tmp/pocl")
    before = common.exists() and common.stat().st_mtime_ns
    program = (
        "from societies.opencl import list_devices; list_devices()\n"
        "import os; print(os.environ['POCL_CACHE_DIR'])"
    )
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment | {"TMPDIR": str(places / "tmp")},
        capture_output=True,
        text=True,
    )
    folder = Path(done.stdout.strip())
    assert done.returncode == 0 and folder.stat().st_uid == os.geteuid(), done.stderr
    assert (common.exists() and common.stat().st_mtime_ns) == before


def limited(mib):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (mib * MIB, mib * MIB))


@pytest.mark.sample
@pytest.mark.parametrize(
    ("mib", "asked", "says"),
    [
        (120, "reference", "to load its libraries"),
        (250, "cpu", "to load its libraries"),
        (270, "cpu", "to use OpenCL here"),
        (400, "cpu", "to use OpenCL here"),
        (600, "cpu", "to use OpenCL here"),
    ],
)
def test_too_little_address_space_is_called_so(tmp_path, mib, asked, says):
    done = command(tmp_path, "run", "small.yaml", "--device", asked, before=limited(mib))
    assert done.returncode == DeviceError.exit_code, done.stderr
    first, second = done.stderr.splitlines()
    assert f"limited to {mib} MiB of address space (ulimit -v)" in first and says in first
    assert "ulimit -v unlimited" in second


@pytest.mark.thorough
def test_what_is_said_to_be_enough_is(tmp_path):
    done = command(
        tmp_path, "run", "small.yaml", "--device", "reference", "-q", before=limited(256)
    )
    assert (done.returncode, done.stdout) == (0, "small.h5\n"), done.stderr


@pytest.mark.thorough
def test_enough_for_devices_is_enough_to_build_kernels(tmp_path):
    if {one.platform for one in list_devices()} != {"Portable Computing Language"}:
        pytest.skip("what is enough is said for pip's PoCL; further runtimes load more libraries")
    enough = 640 + 16 * (os.cpu_count() or 1)
    places = {
        "POCL_CACHE_DIR": tmp_path / "pocl",
        "SOCIETIES_CACHE_DIR": tmp_path / "ours",
        "OCL_ICD_VENDORS": tmp_path / "vendors",  # no other runtime of this machine
    }
    for place in places.values():
        place.mkdir()
    words = ("run", "small.yaml", "--device", "cpu", "-q")
    done = command(tmp_path, *words, before=limited(enough), **places)
    assert (done.returncode, done.stdout) == (0, "small.h5\n"), done.stderr


@pytest.mark.ci
@pytest.mark.mount
@pytest.mark.parametrize("filled", [0, 1100, 1200])
def test_a_full_cache_disk_is_called_so(small_disk, tmp_path, filled):
    (small_disk / "other").write_bytes(bytes(filled << 10))
    done = command(tmp_path, "run", "small.yaml", "--device", "cpu", POCL_CACHE_DIR=small_disk)
    assert done.returncode == DeviceError.exit_code, done.stderr
    first, second = done.stderr.splitlines()
    assert f"{small_disk}: the disk is full" in first and "POCL_CACHE_DIR" in second


def test_room_is_looked_at_before_pocl_builds(device, monkeypatch, kernel_file):
    if "portable computing" not in device.platform.lower():
        pytest.skip("another runtime keeps no cache of its own")
    monkeypatch.setattr(private, "ROOM", 1 << 62)
    with pytest.raises(DeviceError, match=r"the disk is full \(\d+ KiB free\); PoCL needs"):
        societies.Program(device, kernel_file("kernel void none(global int *o) { o[0] = 1; }\n"))


def test_a_quota_that_is_used_up_is_no_reason_for_pocl_to_end_the_process(tmp_path, monkeypatch):
    """A disk with a quota has space for others; PoCL called abort, without a word."""
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path))
    private.require_room()
    monkeypatch.setattr(private.tempfile, "TemporaryFile", lambda **_: Refusing())
    with pytest.raises(DeviceError, match=r"the disk's quota is used up; PoCL needs some MiB"):
        private.require_room()


class Refusing(io.BytesIO):
    def write(self, content):
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path / "missing"))
    assert str(tmp_path / "missing") in private.trouble()
    monkeypatch.setenv("POCL_CACHE_DIR", str(tmp_path))
    assert private.trouble() == ""
