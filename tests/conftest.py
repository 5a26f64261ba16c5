"""Settings that all tests share: caches of their own, and a quiet, repeatable hypothesis."""

import os
import tempfile

import pytest
from hypothesis import HealthCheck, settings

# Builds are shared between the tests of a run and never with the user's own cache.
if "SOCIETIES_CACHE_DIR" not in os.environ:
    _root = os.path.join(tempfile.gettempdir(), f"societies-tests-{os.getuid()}")
    os.makedirs(_root, exist_ok=True)
    os.environ["SOCIETIES_CACHE_DIR"] = os.path.join(_root, "builds")
    os.environ.setdefault("POCL_CACHE_DIR", os.path.join(_root, "pocl"))

settings.register_profile(
    "societies",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("societies")


@pytest.fixture
def shell(capsys):
    """Run a command in this process; return its exit code, stdout and stderr.

    Whatever goes wrong, a user never sees a traceback unasked.
    """
    from societies.cli import main

    def command(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main(list(words))
        out, err = capsys.readouterr()
        assert "Traceback" not in err or "--debug" in words
        return int(end.value.code or 0), out, err

    return command
