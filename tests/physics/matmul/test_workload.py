"""Is a product declared right: its files of matrices, its results, and what is refused?"""

import re
from contextlib import suppress

import h5py
import numpy as np
import pytest
import xarray as xr
from pydantic import ValidationError

import societies
from societies.errors import ConfigError, Interrupted
from societies.physics.matmul import WORKLOAD
from societies.physics.matmul.config import MatmulConfig


def config_of(**settings):
    return MatmulConfig(workload="matmul", **settings)


def test_the_file_holds_product_seconds_and_operations(tmp_path):
    a = np.random.default_rng(1).normal(size=(5, 7))
    b = np.random.default_rng(2).normal(size=(7, 3))
    np.save(tmp_path / "a.npy", a)
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["group/b"] = b.astype(np.float32)
    settings = {"a": str(tmp_path / "a.npy"), "b": f"{tmp_path / 'b.h5'}:group/b", "rows": 5}
    config = config_of(inner=7, columns=3, repeats=4, record={"product": True}, **settings)
    report = societies.run(config, out=tmp_path / "c.h5")
    assert {"seconds of a product", "speed"} <= dict(report.rows).keys()
    with xr.open_dataset(tmp_path / "c.h5") as run:
        assert run.attrs["flops"] == 2 * 5 * 7 * 3
        assert run["seconds"].dims == ("repeat",) and (run["seconds"] > 0).all()
        assert run["gflops"].dims == ("repeat",) and run["gflops"].attrs["units"] == "GFLOP/s"
        assert np.allclose(run["gflops"] * run["seconds"] * 1e9, run.attrs["flops"])
        near = a.astype(np.float32) @ b.astype(np.float32)
        assert run["C"].dims == ("product", "row", "column")
        assert np.allclose(run["C"][0], near, rtol=1e-5)
    assert config.inputs() == {"a": settings["a"], "b": str(tmp_path / "b.h5")}
    assert WORKLOAD.work_done(config, 4) == 4 * 5 * 7 * 3


@pytest.mark.parametrize("repeats", [1, 2, 6])
def test_the_rate_that_is_reported_is_that_of_repeats(repeats, tmp_path):
    """Building kernels took nearly all of the time of a small product, and counted."""
    config = config_of(rows=4, inner=5, columns=3, repeats=repeats)
    report = societies.run(config, out=tmp_path / "c.h5")
    with xr.open_dataset(tmp_path / "c.h5") as run:
        middle = float(np.median(run["seconds"][1:] if repeats > 1 else run["seconds"]))
    assert report.work_per_second == pytest.approx(4 * 5 * 3 / middle)
    shown = dict(report.rows)
    rate, of = shown["speed"].split(" GFLOP/s, ")
    assert float(rate.replace(",", "")) == pytest.approx(2 * 4 * 5 * 3 / middle / 1e9, rel=0.05)
    assert float(shown["seconds of a product"]) == pytest.approx(middle, rel=1e-5)
    alone = "of the only repeat, for which a compiler may have finished the kernel"
    assert of == (alone if repeats == 1 else f"the median of {repeats - 1}, without the first")


def test_rates_follow_a_run_that_was_resumed(tmp_path):
    config = config_of(rows=4, inner=5, columns=3, repeats=6, record={"checkpoint": 1})

    def stop(repeat, last):
        raise KeyboardInterrupt

    for progress in (stop, None):
        resume = progress is None
        with suppress(Interrupted):
            societies.run(config, out=tmp_path / "c.h5", resume=resume, progress=progress)
    with xr.open_dataset(tmp_path / "c.h5") as run:
        assert np.allclose(run["gflops"] * run["seconds"] * 1e9, run.attrs["flops"])


def test_without_being_asked_for_the_product_is_not_written(tmp_path):
    societies.run(config_of(rows=3, inner=4, columns=5, repeats=2), out=tmp_path / "c.h5")
    with xr.open_dataset(tmp_path / "c.h5") as run:
        assert "C" not in run and run.sizes["repeat"] == 2


def test_the_form_follows_from_device_and_sizes():
    class Cpu:
        kind, version, name = "cpu", "OpenCL 3.0 PoCL HSTR: pthread-x86_64-znver3", "EPYC"

    class Wide(Cpu):
        version = "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-skylake-avx512"

    class Gpu(Cpu):
        kind = "gpu"

    assert WORKLOAD.fitted(config_of(), Cpu()).variant == "vector"
    assert WORKLOAD.fitted(config_of(), Wide()).variant == "wide"
    assert WORKLOAD.fitted(config_of(), Gpu()).variant == "blocked"
    assert WORKLOAD.fitted(config_of(rows=15), Gpu()).variant == "naive"
    assert WORKLOAD.fitted(config_of(variant="tiled"), Cpu()).variant == "tiled"
    assert WORKLOAD.parameters(config_of()).variant == "naive"


def made(folder, name, array):
    np.save(folder / name, array)
    return str(folder / name)


def test_matrices_that_are_none_are_refused(tmp_path):
    def refused(message, **settings):
        with pytest.raises(ValidationError, match=re.escape(message)):
            config_of(rows=2, inner=3, columns=4, **settings)

    numbers = np.ones((3, 2))
    refused("has 3 x 2 entries, A 2 x 3 (rows x inner)", a=made(tmp_path, "t.npy", numbers))
    refused("has 3 x 2 entries, B 3 x 4 (inner x columns)", b=made(tmp_path, "t.npy", numbers))
    refused("; override rows=3 override inner=2 takes all of it", a=str(tmp_path / "t.npy"))
    refused("(inner x columns); override columns=2 takes", b=str(tmp_path / "t.npy"))
    refused("has 6 entries; a matrix has rows and columns", a=made(tmp_path, "1.npy", np.ones(6)))
    refused("holds complex128", a=made(tmp_path, "c.npy", np.ones((2, 3), complex)))
    refused("holds int64; float32 or float64", a=made(tmp_path, "i.npy", np.ones((2, 3), int)))
    refused("holds float16", a=made(tmp_path, "h.npy", np.ones((2, 3), np.float16)))
    whole = (tmp_path / "t.npy").read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-5])
    refused("cut.npy is cut off: it is shorter than it says", a=str(tmp_path / "cut.npy"))
    (tmp_path / "head.npy").write_bytes(whole[:20])
    refused("head.npy is cut off", a=str(tmp_path / "head.npy"))
    (tmp_path / "text.npy").write_text("1 2 3")
    refused("text.npy is no .npy file", a=str(tmp_path / "text.npy"))
    (tmp_path / "empty.npy").touch()
    refused("empty.npy is empty", a=str(tmp_path / "empty.npy"))
    refused("holds <U1; float32", a=made(tmp_path, "w.npy", np.array([["a", "b"]])))
    objects = np.array([[1.0, None]], dtype=object)
    refused("holds objects; float32 or float64", a=made(tmp_path, "o.npy", objects))
    np.savez(tmp_path / "many.npz", numbers, numbers)
    refused("is an archive of arrays", a=str(tmp_path / "many.npz"))
    refused("No such file", a=str(tmp_path / "nowhere.npy"))
    refused("expected one of random, identity, ones", a="")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["numbers"] = numbers
        file["texts"] = np.array([[b"a"] * 3] * 2)
    at = tmp_path / "x.h5"
    refused("has no dataset sums; it has: numbers, texts", a=f"{at}:sums")
    with h5py.File(at, "a") as file:
        file["group/inside"] = numbers
    refused("has a group group, no dataset; it has: group/inside, numbers, texts", a=f"{at}:group")
    refused("has no dataset inside; it has: group/inside, numbers, texts", a=f"{at}:inside")
    refused("names no dataset", a=str(at))
    with h5py.File(at, "a") as file:
        file.update({f"many/{number:02}": numbers for number in range(30)})
    refused("many/18, ...", a=f"{at}:inside")
    refused("holds |S1", a=f"{at}:texts")
    large = made(tmp_path, "large.npy", np.array([[1.0, np.nan, np.inf], [0.0, 1e39, 2.0]]))
    refused("large.npy holds numbers beyond 3.4e38; set precision: double", a=large)
    assert config_of(rows=2, inner=3, a=large, precision="double").a == large
    (tmp_path / "y.h5").write_text("no HDF5")
    refused("y.h5 cannot be read", a=f"{tmp_path / 'y.h5'}:z")


def test_sizes_that_no_device_has_are_refused(tmp_path):
    with pytest.raises(ValidationError, match=r"entries of A are more than 2\^34"):
        config_of(rows=1 << 20, inner=1 << 20)
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        config_of(rows=0)
    with pytest.raises(ConfigError, match="steps: unknown key"):
        societies.config_from_dict({"workload": "matmul", "steps": 3})
    large = config_of(rows=1 << 17, inner=1, columns=1 << 17, repeats=1)
    with pytest.raises(societies.SocietiesError, match=r"GiB|MiB"):
        societies.run(large, out=tmp_path / "large.h5")
