"""Does the shipped sweep of the exponent of utility have the order of Figure 6 of the paper?"""

import pytest

from societies import sweep


@pytest.mark.thorough
def test_trade_falls_as_the_next_unit_loses_value_faster(tmp_path):
    sweep.run("economy/sweeps/utility_exponent", out=tmp_path / "s.h5", device="cpu")
    with sweep.open_study(tmp_path / "s.h5") as study:
        volume = study.units_traded.sel(day=slice(51, 100)).mean("day")
        means = volume.groupby("utility.exponent").mean()
        spread = volume.groupby("utility.exponent").std()
    assert means["utility.exponent"].values.tolist() == [1.1, 1.5, 2.0]
    gaps = -means.diff("utility.exponent").values
    assert (gaps > 0).all() and (gaps > spread.values[1:]).all()
