"""Settings that all tests share: caches of their own, and a quiet, repeatable hypothesis."""

import os
import tempfile

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
