"""Is every kernel in the one style of `.clang-format`?"""

import subprocess
from pathlib import Path

import clang_format
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("kernels", "societies", "tests", "benchmarks", "experiments")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.cl"))


def unformatted(paths):
    """Return what clang-format says about files that it would change."""
    command = [clang_format.get_executable("clang-format"), "--dry-run", "--Werror"]
    command += [f"--style=file:{ROOT / '.clang-format'}", *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.ci
def test_every_kernel_is_formatted():
    assert {path.parent.name for path in FILES} > {"primitives", "economy", "laplace", "kernels"}
    assert unformatted(FILES) == "", "clang-format -i FILE formats it (CONTRIBUTING.md)"


@pytest.mark.parametrize(
    "code",
    [
        "static int f(int x) {\n    return x;\n}\n",
        "static int f(int x)\n{\n  return x;\n}\n",
        f"// {'word ' * 21}\n",
        f"static int f(int {'a' * 50}, int {'b' * 50});\n",
    ],
)
def test_planted_styles_are_found(tmp_path, code):
    (tmp_path / "planted.cl").write_text(code)
    assert "planted.cl" in unformatted([tmp_path / "planted.cl"])
    (tmp_path / "planted.cl").write_text("static int f(int x)\n{\n    return x;\n}\n")
    assert unformatted([tmp_path / "planted.cl"]) == ""
