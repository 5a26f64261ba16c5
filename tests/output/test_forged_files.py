"""What is said of a file that was changed in part, though its seals fit?

One or two plain lines, with the exit code of a file that cannot be read; never an internal error.
"""

import shutil
from contextlib import suppress

import h5py
import numpy as np
import pytest
from forging import forge
from marks import in_turn
from small import small

import societies
from societies.errors import OutputError

TEXT = h5py.string_dtype()
COPY = {"economy": "society", "laplace": "plate"}
CLOCK = {"economy": "day", "laplace": "step"}
SERIES = {"economy": "gini", "laplace": "change"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forged")
    for name in COPY:
        config = small(name, replicates=2) if name == "economy" else small(name)
        (folder / f"{name}.yaml").write_text(societies.config.to_yaml(config))
        report = societies.run(config, device="reference", out=folder / f"{name}.h5")
        (folder / f"{name}.sha256").write_text(report.state_sha256)
    return folder


@pytest.fixture
def forged(files, tmp_path, monkeypatch):
    """Forge a file of a workload and return its path; the folder also has its configuration."""
    monkeypatch.chdir(tmp_path)

    def make(name, change):
        shutil.copy(files / f"{name}.yaml", tmp_path)
        path = tmp_path / "forged.h5"
        shutil.copy(files / f"{name}.h5", path)
        with h5py.File(path, "r+") as file:
            change(file, name)
        forge(path)
        return path.name

    return make


def replace(file, name, values, dims=None):
    """Put other values in the place of a coordinate or variable, which keeps its attributes."""
    old = file[name]
    attributes = {key: old.attrs[key] for key in ("units", "long_name")}
    scale, users = old.is_scale, []
    for item in file.values():
        for axis, dim in enumerate(getattr(item, "dims", ())):
            for attached in dim.values() if not item.is_scale else ():
                if old in (attached, item):
                    users.append((item.name, axis, attached.name))
                    dim.detach_scale(attached)
    del file[name]
    new = file.create_dataset(name, data=values)
    new.attrs.update(attributes)
    if scale:
        new.make_scale(name)
    elif dims is not None:
        users = [(name, axis, dim) for axis, dim in enumerate(dims)]
    for user, axis, attached in users:
        with suppress(IndexError):  # of fewer dimensions now
            file[user].dims[axis].attach_scale(file[attached])


def attribute(key, value):
    return lambda file, name: file.attrs.__setitem__(key, value)


def copies(values):
    return lambda file, name: replace(file, COPY[name], values)


def ticks(change):
    def forge_ticks(file, name):
        replace(file, CLOCK[name], change(len(file[CLOCK[name]])))

    return forge_ticks


def series(change, dims=None, which=None):
    def forge_series(file, name):
        variable = which or SERIES[name]
        replace(file, variable, change(file[variable][()]), dims)

    return forge_series


def without(which):
    def forge_absence(file, name):
        del file[which or SERIES[name]]

    return forge_absence


DRAWN = {
    "copies that are no coordinate": (attribute("copies", "x"), "no coordinate 'x'"),
    "copies that are a number": (attribute("copies", 5), "no coordinate '5'"),
    "copies that are a variable": (attribute("copies", "ticks_committed"), "no coordinate"),
    "a clock that is no coordinate": (attribute("clock", "week"), "', not 'week'"),
    "no copies": (copies(np.zeros(0, np.int64)), ""),
    "ticks that fall": (ticks(lambda n: np.arange(n)[::-1].copy()), ""),
    "ticks that are texts": (ticks(lambda n: np.array(["a"] * n, TEXT)), "or damaged"),
    "ticks that are no numbers": (ticks(lambda n: np.full(n, np.nan)), ""),
    "ticks in two dimensions": (ticks(lambda n: np.zeros((n, 2))), ""),
    "a single tick for all": (ticks(lambda n: np.int64(3)), ""),
    "a series without copies": (series(lambda a: a[0]), "in its seal"),
    "a series of three dimensions": (series(lambda a: np.zeros((*a.shape, 3))), ""),
    "a series of other numbers": (series(lambda a: a.astype("f2")), " float16, and "),
    "a series that is one number": (series(lambda a: np.float64(1)), "' is one float64, and "),
    "a series of texts": (
        series(lambda a: np.full(a.shape, "x", object).astype(TEXT)),
        " text, and ",
    ),
    "more ticks complete than a number holds": (series(np.size, which="ticks_committed"), None),
    "complete ticks in a list": (
        series(lambda a: np.arange(3), which="ticks_committed"),
        "damaged",
    ),
    "complete ticks in words": (
        series(lambda a: "many", which="ticks_committed"),
        "'ticks_committed' is one text, and one int64 in its seal",
    ),
}
OF_ONE = {
    "laplace": {
        "no change": (without("change"), "no variable 'change'"),
        "no potentials": (without("phi"), "no variable 'phi'"),
        "potentials in a row": (
            series(np.ravel, which="phi"),
            ", and 1 x 12 x 12 float32 in ",
        ),
        "no number among the potentials": (
            series(lambda a: np.full_like(a, np.nan), which="phi"),
            "'phi' holds no numbers",
        ),
        "potentials beyond all bounds": (
            series(lambda a: np.full_like(a, np.inf), which="phi"),
            "'phi' holds no numbers",
        ),
    },
    "economy": {
        "shares without days": (series(np.ravel, which="extraction_share"), "extraction_share"),
        "one number for all devices": (
            series(lambda a: np.float64(0), which="devices_known"),
            "devices_known",
        ),
        "utility without days": (series(np.ravel, which="utility"), "'utility' is "),
    },
}
CASES = {
    **{(name, kind): case for kind, case in DRAWN.items() for name in COPY},
    **{(name, kind): case for name, cases in OF_ONE.items() for kind, case in cases.items()},
}


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_figure_of_it_is_refused_in_a_line(forged, shell, name, kind):
    pytest.importorskip("matplotlib")
    change, says = CASES[name, kind]
    path = forged(name, change)
    code, out, err = shell("plot", path, "--out", "figure.png")
    if says is None:
        assert (code, err) == (0, "")
        return
    assert (code, out) == (4, ""), err
    assert err.startswith("forged") and says in err
    assert len(err.splitlines()) == 1 and "internal error" not in err


@pytest.mark.ci
@pytest.mark.parametrize("change", [lambda a: a.astype("f8"), lambda a: a.astype("i2")])
def test_a_column_of_another_type_than_its_seal_has_is_not_read(forged, change):
    def forge_column(file, name):
        table = file["events/inventions"]
        values, attributes = change(table["resource"][()]), dict(table["resource"].attrs)
        scale = table["resource"].dims[0][0]
        del table["resource"]
        column = table.create_dataset("resource", data=values)
        column.attrs.update({key: attributes[key] for key in ("units", "long_name")})
        column.dims[0].attach_scale(scale)

    path = forged("economy", forge_column)
    with pytest.raises(OutputError, match=r"'resource' is 140 .*, and 140 int32 in its seal"):
        societies.open_results(path, events="inventions")


@pytest.mark.ci
@pytest.mark.parametrize("name", COPY)
def test_a_negative_number_of_complete_ticks_is_none(forged, shell, name):
    pytest.importorskip("matplotlib")
    path = forged(name, lambda file, name: file["ticks_committed"].__setitem__((), -5))
    code, out, err = shell("plot", path, "--out", "figure.png")
    assert (code, out) == (4, "")
    assert err.startswith("forged.h5: damaged: counter of complete")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("values", "name"), in_turn([np.nan, np.inf, -np.inf, 1e308, -1e308], [*COPY], 1)
)
def test_numbers_that_no_axis_holds_are_left_out_of_a_figure(forged, shell, name, values):
    """A series may well have no number for a day: an agent without trades has no price."""
    pytest.importorskip("matplotlib")
    largest = np.finfo("f8" if name == "economy" else "f4").max  # of the series' own type
    value = np.clip(values, -largest, largest) if np.isfinite(values) else values
    path = forged(name, series(lambda a: np.full_like(a, value)))
    assert shell("plot", path, "--out", "figure.png") == (0, "figure.png\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("title", "name"),
    in_turn(["x" * 3000, "$\\frac$", "\x1b[2J", 7.5, np.array([[1, 2]])], [*COPY], 1),
    ids=repr,
)
def test_any_title_can_be_drawn(forged, shell, name, title):
    pytest.importorskip("matplotlib")

    def change(file, name):
        for key in ("title", "agents", "scenario"):
            file.attrs[key] = title
        for item in ("gini",) if name == "economy" else ("phi",):
            file[item].attrs["units"] = title

    code, _, err = shell("plot", forged(name, change), "--out", "figure.png")
    assert (code, err) == (0, "")


def other_configuration(file, name):
    other = {"economy": "laplace", "laplace": "economy"}[name]
    file.attrs["configuration"] = societies.config.to_yaml(small(other))


def without_attribute(key):
    return lambda file, name: file.attrs.__delitem__(key)


def without_an_array(file, name):
    for slot in file["checkpoint"].values():
        del slot["state"][next(iter(slot["state"]))]


REFUSED = {
    "no configuration": without_attribute("configuration"),
    "the configuration of another workload": other_configuration,
    "a number for a configuration": attribute("configuration", np.int64(-1)),
}
STRUCTURE = {
    "no checkpoints": without("checkpoint"),
    "an array missing in its checkpoints": without_an_array,
    "complete ticks in words": series(lambda a: "many", which="ticks_committed"),
    "a number of ticks in words": attribute("ticks", "many"),
}
"""Changes of what HDF5 lists; what a run reads lies where the seal says, and is as it was."""


def ways_on(name, path):
    """Return the commands that continue with a file."""
    more = ["--set", "days=15"] if name == "economy" else ["--set", "steps=61"]
    yield ["run", f"{name}.yaml", "--out", path, "--resume"]
    yield ["verify", f"{name}.yaml", "--from", path, "--ticks", "1", *more]
    if name == "economy":
        yield ["trace", "economy.yaml", "--from", path, "--day", "14", "--agent", "1"]


@pytest.mark.sample
@pytest.mark.parametrize("kind", REFUSED)
@pytest.mark.parametrize("name", COPY)
def test_continuing_with_it_is_refused_in_two_lines(forged, shell, name, kind):
    path = forged(name, REFUSED[kind])
    for words in ways_on(name, path):
        code, out, err = shell(*words, "--device", "reference")
        assert (code, out) == (4, ""), (words, out, err)
        assert path in err and len(err.splitlines()) <= 2, err
    code, _, err = shell("info", path, "--check")
    assert code in (0, 4) and "internal error" not in err


@pytest.mark.thorough
@pytest.mark.parametrize("kind", STRUCTURE)
@pytest.mark.parametrize("name", COPY)
def test_continuing_with_it_is_right_or_refused(forged, files, shell, name, kind):
    path = forged(name, STRUCTURE[kind])
    sha256 = (files / f"{name}.sha256").read_text()
    for words in ways_on(name, path):
        code, out, err = shell(*words, "--device", "reference")
        if code == 0:
            assert words[0] != "run" or sha256 in out
            assert words[0] != "verify" or out.startswith("identical")
        else:
            assert code in (2, 4) and path in err and len(err.splitlines()) <= 2, err
    code, _, err = shell("info", path, "--check")
    assert code in (0, 4) and "internal error" not in err
