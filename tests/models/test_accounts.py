"""Does the table of flows of a file add up, and is it refused where the file does not have it?"""

import json
import re

import h5py
import numpy as np
import pytest
from small import small

import societies
from societies.analysis import accounts
from societies.errors import ConfigError, OutputError

QUARTERS = 12


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the folder of two results: one with a table of values, one that ends early."""
    folder = tmp_path_factory.mktemp("accounts")
    reference = {"device": "reference"}
    table = {"tax": [0.2, 0.0], "net_worth_ratio": [0.4, 0.7]}
    whole = small("bam", replicates=2, first_economy=5)
    societies.run(whole, out=folder / "whole.h5", table=table, **reference)
    dear = {"min_wage_every": 1, "net_worth_ratio": 2.0, "savings0": 1.0}
    short = small("bam", replicates=2, quarters=40, **dear)
    societies.run(short, out=folder / "short.h5", **reference)
    return folder


@pytest.fixture(scope="module")
def whole(files):
    with societies.open_results(files / "whole.h5") as results:
        yield results


@pytest.mark.parametrize(("economy", "quarter"), [(5, 1), (6, 1), (5, 2), (6, QUARTERS)])
def test_rows_and_columns_of_a_file_add_up(whole, economy, quarter):
    found = accounts.flows(whole, ticks=quarter, copy=economy)
    table = np.array(list(found.rows.values()), object)
    assert not table.sum(0).any() and not table.sum(1).any()
    assert table.any() and (found.copy, found.ticks) == (economy, (quarter, quarter))


def test_a_range_is_the_sum_of_its_quarters(files):
    path = files / "whole.h5"
    whole = accounts.flows(path, ticks="2:5").rows
    each = [accounts.flows(path, ticks=quarter).rows for quarter in range(2, 6)]
    assert whole == {
        name: [sum(row) for row in zip(*(one[name] for one in each), strict=True)] for name in whole
    }


def test_the_command_prints_the_table(files, whole, shell, monkeypatch):
    monkeypatch.setenv("COLUMNS", "150")
    words = ["info", "--accounts", str(files / "whole.h5"), "--economy", "6"]
    code, out, err = shell(*words, "--quarter", "2")
    assert (code, err) == (0, "") and "quarter 2 of economy 6, grains" in out
    cells = [line.split() for line in out.splitlines() if line.split()]
    found = accounts.flows(whole, ticks=2, copy=6)
    wages = found.rows["wages"]
    assert ["wages", f"{wages[0]:+,}", f"{wages[1]:+,}", "0"] in cells
    assert ["total", "0", "0", "0", "0", "0"] in cells
    code, out, _ = shell(*words, "--json", "--ticks", "2")
    assert json.loads(out) == json.loads(json.dumps(found.as_dict()))


def test_nothing_is_paid_after_the_end_of_an_economy(files):
    with societies.open_results(files / "short.h5") as run:
        ended = run.ended.astype(int).values
        assert len(set(ended)) == 2 and min(ended) > 0
        first, last = int(ended.argmin()), int(ended.max())
        over = run.isel(economy=first).sel(quarter=slice(int(ended[first]) + 1, None))
        assert over.sizes["quarter"] and not over.flow.any() and not over.balance.any()
        assert over.gdp.isnull().all()
        assert accounts.flows(run, copy=first).ticks == (min(ended), min(ended))
        with pytest.raises(ConfigError, match=f"economy {first} ended in quarter"):
            accounts.flows(run, ticks=last, copy=first)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"ticks": 13}, "ticks=13: none of the quarters of the file, which are 1 to 12"),
        ({"ticks": "2,4"}, "ticks='2,4': the table of flows needs every quarter of a range"),
        ({"copy": 4}, "copy=4: the economies of the file are 5 to 6"),
    ],
    ids=str,
)
def test_what_a_file_does_not_have_is_refused(whole, asked, said):
    with pytest.raises(ConfigError, match=re.escape(said)):
        accounts.flows(whole, **asked)


def test_a_table_that_does_not_add_up_is_refused(files, tmp_path):
    other = tmp_path / "other.h5"
    other.write_bytes((files / "whole.h5").read_bytes())
    with h5py.File(other, "r+") as file:
        file["flow"][0, 4, 0] += 1
    with pytest.raises(OutputError):
        accounts.flows(other, ticks=5)


def test_a_workload_without_money_is_refused(tmp_path, shell):
    path = tmp_path / "kirman.h5"
    societies.run(small("kirman_ants"), out=path, device="reference")
    code, _, err = shell("info", "--accounts", str(path))
    assert code == 2 and "declares no payments between sectors; these do: bam" in err
    code, _, err = shell("info", str(path), "--json")
    assert code == 2 and "--json: is for --accounts" in err
