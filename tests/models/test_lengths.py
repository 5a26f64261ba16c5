"""Is a model that comes with the package as short as a reader can take in at once?"""

from pathlib import Path

import pytest

from societies import models

FOLDER = Path(models.__file__).parent
FILES = sorted(path.name for path in FOLDER.glob("[a-z]*.py"))


@pytest.mark.parametrize("name", FILES)
def test_a_model_of_one_file_has_at_most_150_lines(name):
    assert len((FOLDER / name).read_text("utf-8").splitlines()) <= 150


def test_modules_of_the_translator_have_at_most_400_lines():
    folder = FOLDER.parent / "translate"
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in folder.glob("*.py")}
    assert {name: n for name, n in lengths.items() if n > 400} == {}
