"""Does what follows from names follow: twins, parameters, macros? What if a name is wrong?"""

import re
import textwrap
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from small import keys_of

from societies.config.model import SHAPE, Section, key
from societies.paths import data_directory
from societies.workload import Phase, Workload, parameters_of, phase
from societies.workload.declare.naming import Imported
from societies.workload.running.registry import workload, workloads
from societies.workload.running.twins import twins_of
from societies.workload.running.varying import field_of
from societies.workload.values.keys import allowed_words

LAPLACE = "reference_py.physics.laplace"


def test_the_twin_of_a_phase_is_in_the_module_of_its_file_or_of_its_name():
    from reference_py.physics.laplace import advance
    from reference_py.physics.matmul import fill

    assert twins_of(LAPLACE, {"advance": Phase()}) == {"advance": advance.advance}
    table = {"fill_b": phase("physics/matmul/fill.cl")}
    assert twins_of("reference_py.physics.matmul", table) == {"fill_b": fill.fill_b}


@pytest.mark.parametrize("name", ["melt", "rule"])
def test_a_phase_without_twin_is_named(name):
    """There is no module ``melt``, and no function ``rule`` in the module of that name."""
    message = f"phase {name} has no twin: no function {name} in {LAPLACE}.{name}"
    with pytest.raises(NotImplementedError, match=message):
        twins_of(LAPLACE, {name: phase(f"physics/laplace/{name}.cl")})


def test_a_module_that_a_twin_cannot_import_is_not_said_to_be_the_twin(tmp_path, monkeypatch):
    (tmp_path / "half_done").mkdir()
    (tmp_path / "half_done" / "melt.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        twins_of("half_done", {"melt": Phase()})


@dataclass
class Plate:
    rows: int
    columns: int
    cells: int = 0
    omega: float = 1.5


class PlateConfig(Section):
    rows: int = key(3, "rows")
    columns: int | None = key(None, "columns")
    omega: float = key(1.25, "over-relaxation")

    @property
    def cells(self):
        return self.rows * 2

    def columns_or_rows(self):
        return self.columns or self.rows


def test_parameters_are_keys_and_properties_of_the_same_name():
    config = PlateConfig()
    found = parameters_of(Plate, config, columns=config.columns_or_rows())
    assert found == Plate(rows=3, columns=3, cells=6, omega=1.25)
    assert parameters_of(Plate, config, columns=1, cells=7).cells == 7
    with pytest.raises(TypeError, match="missing"):
        parameters_of(Plate, Section(), rows=3)
    with pytest.raises(TypeError, match="colums"):
        parameters_of(Plate, config, colums=3)


def test_macros_follow_from_keys_declared_as_shapes():
    """The largest number of a word is that of its place in the declaration."""
    laplace = workload("laplace")
    p = SimpleNamespace(method="sor", rows=7)
    assert laplace.macros(p, "method", "rows") == {
        "METHOD": 2,
        "METHOD_JACOBI": 0,
        "METHOD_HEAT": 1,
        "METHOD_SOR": 2,
        "ROWS": 7,
    }
    for name in ("ratio", "image", "hue"):  # a value, a key of the host, no key
        with pytest.raises(TypeError, match=f"declares no shape {name}"):
            laplace.macros(SimpleNamespace(**{name: 1}), name)


def test_a_word_of_a_key_may_be_one_of_several_types():
    blur, raytracer = workload("blur"), workload("raytracer")
    found = blur.macros(SimpleNamespace(border="wrap"), "border")
    assert found["BORDER"] == found["BORDER_WRAP"] == 4 and len(found) == 7
    assert raytracer.macros(SimpleNamespace(tile=64), "tile") == {"TILE": 64}


def test_kernels_compare_shapes_with_words_that_are_declared():
    """A preprocessor takes a misspelt word for 0, which is the number of the first word."""
    compared = re.compile(r"\b([A-Z][A-Z0-9_]*) [!=]= (\1_[A-Z0-9_]+)\b")
    texts = [path.read_text() for path in data_directory("kernels").rglob("*.cl")]
    used = {found[2] for text in texts for found in compared.finditer(text)}
    declared = set()
    for one in workloads().values():
        for name, kind in keys_of(one.config):
            words = allowed_words(field_of(one.config, name)) if kind == SHAPE else ()
            symbol = name.rpartition(".")[2].upper()
            declared |= {f"{symbol}_{word.upper()}" for word in words}
    assert len(used) > 20 and used <= declared


def test_parameters_are_made_by_the_configuration_if_it_says_how():
    class Made(PlateConfig):
        def parameters(self):
            return parameters_of(Plate, self, columns=self.rows)

    class Named(Section):
        parameters: int = key(5, "a key of this name is no method")

    one = Workload()
    assert one.parameters(Made()) == Plate(3, 3, 6, 1.25)
    for config in (PlateConfig(), Named()):
        assert one.parameters(config) is config


class Placed:
    """A class with members of other modules."""

    shortened = Imported("textwrap:shorten")
    lost = Imported("nowhere.at_all:member")


def test_a_member_of_another_module_is_imported_when_it_is_used():
    one = Placed()
    assert one.shortened is textwrap.shorten  # with its own signature and text
    assert isinstance(Placed.lost, Imported)  # the class alone imports nothing
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        _ = one.lost
