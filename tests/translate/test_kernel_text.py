"""Is the kernel text of a template the one of the last release, on every version of Python?"""

import sys
import tempfile
from pathlib import Path

from societies import config_from_dict
from societies.scaffold import write_workload
from societies.workload import Setup
from societies.workload.running import registry

GOLDEN = Path(__file__).resolve().parents[1] / "data" / "translate" / "exchange.txt"
NAME = "payments_of_a_test"


def kernel_text(folder):
    """Return the text of all phases of the template `exchange`."""
    write_workload(NAME, folder, "exchange")
    (model,) = folder.rglob(f"{NAME}.py")
    config = config_from_dict({"workload": NAME, "model": str(model), "replicates": 2})
    setup = Setup(registry.workload(NAME), config)
    return "\n".join(setup.workload.kernel_text(setup.p, name) for name in setup.phases)


def test_the_text_of_the_template_is_that_of_the_last_release(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "_GIVEN", {})
    assert kernel_text(tmp_path) == GOLDEN.read_text()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        GOLDEN.write_text(kernel_text(Path(made)))
    sys.exit()
