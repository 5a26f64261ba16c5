"""Which environment do all tests, and the processes that they start, run in?

The same one on every machine: only the variables named here are taken over from the caller, the
others are removed. Variables that would change what is printed, built, drawn or found (FORCE_COLOR,
COLUMNS, LANG, POCL_DEBUG, SOCIETIES_DEVICE, PIP_CONFIG_FILE, GIT_DIR) need no list that way. A test
that is about such a variable sets it itself.

`tests/conftest.py` enters it before a test or anything of ours is imported. pytest-xdist starts its
processes afterwards, so that these begin in this environment.
"""

import locale
import os
import re
import site
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_ALLOWED = re.compile(
    "|".join(
        (
            # who runs the tests, where programs and libraries are found, where files may be written
            *("PATH", "LD_LIBRARY_PATH", "USER", "LOGNAME", "SHELL", "TMPDIR"),
            *("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUSERBASE", "PYENV_.*"),
            # which OpenCL and CUDA devices the machine has
            *("OCL_ICD_.*", "OPENCL_VENDOR_PATH", "CUDA_.*", "NVIDIA_.*"),
            # what these tests ask for: CONTRIBUTING.md
            *("SOCIETIES_TEST_.*", "SOCIETIES_REQUIRE_.*", "SOCIETIES_SITE"),
            # pytest tells its own processes something; PYTEST_ADDOPTS has been read by now
            *("PYTEST_(?!ADDOPTS$|PLUGINS$).*", "COV_.*", "COVERAGE_.*"),
        )
    )
)


def folder():
    """Return the folder of builds and settings that later runs of the tests find again."""
    found = Path(tempfile.gettempdir()) / f"societies-tests-{os.getuid()}"
    found.mkdir(exist_ok=True)
    return found


def cleaned(variables):
    """Return the variables of the tests' environment, made from those of the caller."""
    ours = folder()
    found = {name: value for name, value in variables.items() if _ALLOWED.fullmatch(name)}
    if site.ENABLE_USER_SITE:  # packages of `pip install --user` are found by way of HOME
        found.setdefault("PYTHONUSERBASE", site.getuserbase())
    return found | {
        # Files of settings and caches of other programs are not the caller's either.
        "HOME": str(ours / "home"),
        # Builds are shared between the tests of a run and never with the user's own cache.
        "SOCIETIES_CACHE_DIR": str(ours / "builds"),
        "POCL_CACHE_DIR": str(ours / "pocl"),
        "TZ": "UTC",
    }


def enter():
    """Make this process, and all that it starts from now on, run in the tests' environment."""
    variables = cleaned(os.environ)
    Path(variables["HOME"]).mkdir(exist_ok=True)
    os.environ.clear()
    os.environ.update(variables)
    for name in ("LINES", "COLUMNS"):  # set by readline, of which os.environ does not know
        os.unsetenv(name)
    os.umask(0o022)
    time.tzset()
    with suppress(locale.Error):  # some systems call it otherwise
        locale.setlocale(locale.LC_ALL, "C.UTF-8")
