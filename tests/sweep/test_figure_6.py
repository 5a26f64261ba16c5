"""Does the shipped sweep of the exponent of utility have the order of Figure 6 of the paper?"""

import pytest

from societies import sweep


@pytest.mark.thorough
def test_trade_falls_as_the_next_unit_loses_value_faster(tmp_path):
    sweep.run("economy/sweeps/utility_exponent", out=tmp_path / "s.h5", device="cpu")
    with sweep.open_study(tmp_path / "s.h5") as study:
        assert study["utility.exponent"].values.tolist() == [1.1] * 4 + [1.5] * 4 + [2.0] * 4
        volume = study.units_traded.mean("day").values.reshape(3, 4)
    assert (volume[0] > volume[1]).all() and (volume[1] > volume[2]).all()
