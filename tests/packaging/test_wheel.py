"""Does `pip install` give everything that is needed to run, outside the checkout?"""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import pytest
import xarray as xr

pytestmark = pytest.mark.ci
ROOT = Path(__file__).resolve().parents[2]
SHIPPED = {"kernels": "societies/_data/kernels", "configs": "societies/_data/configs"}


def files(folder: str) -> list[Path]:
    return [
        path.relative_to(ROOT / folder)
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    ]


@pytest.mark.parametrize("folder", ["kernels", "configs", "societies", "reference_py"])
def test_the_wheel_has_every_file_of(folder, installation):
    inside = set(zipfile.ZipFile(installation.wheel).namelist())
    expected = {f"{SHIPPED.get(folder, folder)}/{path.as_posix()}" for path in files(folder)}
    assert expected
    assert expected <= inside


def test_the_wheel_has_what_figures_are_reproduced_from(installation, tmp_path):
    done = installation.run(["societies", "reproduce"], tmp_path)
    assert done.returncode == 0, done.stderr
    numbers = re.findall(r"^(\d+) ", done.stdout, re.M)
    assert numbers == [str(number) for number in range(5, 14)]
    done = installation.run(["societies", "reproduce", "5", "--out", "here"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here" / "figure_05.png").is_file()
    done = installation.run(["societies", "reproduce", "kalah"], tmp_path)
    assert done.returncode == 2
    assert "run it in a clone of the repository" in done.stderr


def test_the_wheel_has_nothing_else(installation):
    names = zipfile.ZipFile(installation.wheel).namelist()
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {
        "reference_py",
        "societies",
    }
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_code_kernels_and_configurations_come_from_the_wheel(installation, tmp_path):
    done = installation.run(
        [
            "python",
            "-c",
            "import societies, reference_py\n"
            "from societies.paths import data_directory\n"
            "print(societies.__file__, reference_py.__file__)\n"
            "print(data_directory('kernels'), data_directory('configs'))",
        ],
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    places = done.stdout.split()
    assert len(places) == 4
    assert all(Path(place).is_relative_to(installation.environment) for place in places), places


def test_the_quickstart_runs_in_an_empty_folder(installation, tmp_path):
    done = installation.run(["societies", "run", "configs/economy/quickstart.yaml"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert "agent-days per second" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["quickstart.h5"]
    with xr.open_dataset(tmp_path / "quickstart.h5") as results:
        assert results.sizes["day"] == 100
        assert bool(results.units_extracted.notnull().all())
        assert results.attrs["societies_version"] == version(installation, tmp_path)
        assert results.attrs["git_commit"]  # of the checkout that the wheel was built from


def test_the_command_and_the_module_are_the_same(installation, tmp_path):
    as_module = installation.run(["python", "-m", "societies", "--version"], tmp_path)
    assert as_module.stdout == f"societies {version(installation, tmp_path)}\n"


def version(installation, folder: Path) -> str:
    done: subprocess.CompletedProcess[str] = installation.run(["societies", "--version"], folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[1]
