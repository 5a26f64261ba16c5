"""Which societies of two results are compared, and from which tick on do they differ? By hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xarray as xr

from societies.analysis.pairs import NEVER, PAIR, aligned, compared, first_difference
from societies.analysis.selecting import in_order
from societies.errors import ConfigError, EffectWarning

ATTRS = {"clock": "day", "copies": "society", "seed": 1}
DAYS = [2, 4, 6, 8]


def result(societies=(0, 1, 2), days=DAYS, **variables):
    """Return a result with zeros in ``x``, ``far`` and a variable along kinds; or others."""
    shape = len(societies), len(days)
    data = {
        "x": (("society", "day"), np.zeros(shape), {"units": "util"}),
        "far": (("society", "day"), np.zeros(shape), {"lag": 1}),
        "kinds": (("society", "day", "kind"), np.zeros((*shape, 2))),
    }
    data |= {name: (("society", "day"), np.array(value)) for name, value in variables.items()}
    coords = {"society": list(societies), "day": list(days), "kind": ["a", "b"]}
    return xr.Dataset(data, coords, ATTRS)


def made_by(workload):
    return {**ATTRS, "configuration": f"workload: {workload}\n"}


def changed(name, day, value=1.0, of=None, society=1):
    other = (of if of is not None else result()).copy(deep=True)
    other[name].loc[{"society": society, "day": day}] = value
    return other


def first(a, b):
    one, other, paired = aligned(a, b)
    assert paired
    return first_difference(one, other), first_difference(other, one)


@pytest.mark.parametrize("name", ["x", "kinds"])
@pytest.mark.parametrize("day", DAYS)
def test_the_first_difference_is_on_its_day(name, day):
    assert first(result(), changed(name, day)) == (day, day)
    later = changed(name, 8, of=changed(name, day))
    assert first(result(), later) == (day, day)


def test_the_earliest_of_several_variables_counts():
    assert first(result(), changed("x", 4, of=changed("kinds", 8))) == (4, 4)
    assert first(result(), changed("x", 8, of=changed("kinds", 4))) == (4, 4)
    assert first(result(), result()) == (NEVER, NEVER)


def test_what_depends_on_later_ticks_counts_only_alone():
    assert first(result(), changed("far", 2)) == (2, 2)
    assert first(result(), changed("x", 6, of=changed("far", 2))) == (6, 6)


def test_missing_values_of_both_are_the_same_and_of_one_are_not():
    gap = changed("x", 4, np.nan)
    assert first(gap, gap) == (NEVER, NEVER)
    assert first(gap, result()) == (4, 4)
    assert first(gap, changed("x", 8, of=gap)) == (8, 8)


def test_whole_numbers_and_truths_are_compared_as_well():
    counts, more = ([[0, 0, n, 0]] * 3 for n in (0, 5))
    assert first(result(n=counts), result(n=more)) == (6, 6)
    assert first(result(n=counts), result(n=counts)) == (NEVER, NEVER)
    real = [[0.0, 0.0, 0.5, 0.0]] * 3
    assert first(result(n=counts), result(n=real)) == (6, 6)
    words = [["a", "a", "a", "b"]] * 3
    assert first(result(n=words), result(n=[["a"] * 4] * 3)) == (8, 8)


def test_only_variables_of_both_with_the_same_dimensions_over_time_count():
    other = changed("kinds", 8)
    other["more"] = other.x + 1
    other["still"] = "society", [1.0, 2.0, 3.0]
    base = result()
    base["still"] = "society", [0.0, 0.0, 0.0]
    assert first(base, other) == (8, 8)
    other["x"] = other.x.isel(society=0)
    other["x"][0] = 7.0
    assert first(base, other) == (8, 8)
    wider = xr.Dataset(
        {"kinds": (("society", "day", "kind"), np.ones((3, 4, 3)))},
        {"society": [0, 1, 2], "day": DAYS, "kind": ["a", "b", "c"]},
        ATTRS,
    )
    assert first(changed("x", 6), wider.assign(x=result().x)) == (6, 6)


def test_entries_are_found_by_name_whatever_the_order_of_dimensions_and_without_names_by_place():
    base = result((0, 1))
    base["kinds"] = ("society", "day", "kind"), np.arange(16.0).reshape(2, 4, 2)
    turned = base.transpose("kind", "day", "society")
    assert first(base, turned) == (NEVER, NEVER)
    assert first(base, changed("kinds", 6, of=turned)) == (6, 6)
    nameless = base.drop_vars("kind")
    assert first(base, nameless) == first(nameless, nameless) == (NEVER, NEVER)
    assert first(base, changed("kinds", 6, of=nameless)) == (6, 6)


def test_entries_are_sorted_by_name_and_stay_where_they_are_without():
    values = xr.DataArray([3.0, 1.0, 2.0, 4.0], dims="kind")
    assert in_order(values, "kind").values.tolist() == [3, 1, 2, 4]
    named = values.assign_coords(kind=[8, 5, 9, 6])
    assert in_order(named, "kind").values.tolist() == [1, 4, 3, 2]
    for twice in ([5, 5, 7, 8], [5, 7, 7, 8], [8, 7, 5, 8]):
        with pytest.raises(ConfigError, match="is in the data twice"):
            in_order(values.assign_coords(kind=twice), "kind")


def test_the_order_of_series_and_the_pasts_are_those_of_each_result():
    a, b = result((0, 1, 2)), result((7, 8))[["kinds", "far", "x"]]
    for data, futures in ((a, 2), (b, 7)):
        data.attrs["configuration"] = f"fan: {{futures: {futures}}}\n"
    with pytest.warns(EffectWarning):
        found = compared(a, b, None)
    assert found.labels == ["x", "far"]
    assert [one.tolist() for one in found.pasts] == [[0, 0, 1], [1, 1]]


def test_common_societies_and_ticks_are_paired():
    a = result((3, 1, 2), [1, 2, 4, 5], n=[[30, 31, 32, 33], [10, 11, 12, 13], [20, 21, 22, 23]])
    b = result((2, 3, 9), [2, 3, 4, 6], n=[[1, 2, 3, 4], [5, 6, 7, 8], [9, 9, 9, 9]])
    with pytest.warns(EffectWarning, match="^2 societies without a partner"):
        one, other, paired = aligned(a, b)
    assert paired and one[PAIR].values.tolist() == other[PAIR].values.tolist() == [2, 3]
    assert one.day.values.tolist() == other.day.values.tolist() == [2, 4]
    assert one.n.values.tolist() == [[21, 22], [31, 32]]
    assert other.n.values.tolist() == [[1, 3], [5, 7]]
    with pytest.warns(EffectWarning, match="^1 society without a partner"):
        aligned(result((0, 1)), result((0, 1, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aligned(result(), result())


def test_results_without_common_draws_are_not_paired():
    seeds = "the results have other seeds \\(1, {}\\): they have no pairs"
    for seed, said in ((2, "2"), (None, "none")):
        other = result()
        other.attrs = {**ATTRS, "seed": seed} if seed else {"clock": "day", "copies": "society"}
        with pytest.warns(EffectWarning, match=seeds.format(said)):
            assert aligned(result(), other)[2] is False
    apart = result((7, 8))
    with pytest.warns(EffectWarning, match="no society with the same number"):
        assert aligned(result(), apart)[2] is False
    with pytest.warns(EffectWarning):
        found = compared(result(), changed("x", 6, 3.0, apart, 7), None)
    assert found.firsts == [NEVER] * 2 and found.first == NEVER and not found.paired
    assert found.base.shape == (2, 3, 4) and found.other.shape == (2, 2, 4)
    with pytest.raises(ConfigError, match="no day in common"):
        aligned(result(), result(days=[1, 3, 5, 7]))


@pytest.mark.parametrize("swapped", [False, True])
def test_results_of_other_workloads_are_refused(swapped):
    own, other, ticks = result(), result(), result().rename(day="tick")
    own.attrs, other.attrs = made_by("economy"), made_by("boltzmann")
    ticks.attrs = {**ATTRS, "clock": "tick"}
    for a, b in ((own, other), (result(), ticks)):
        with pytest.raises(ConfigError, match="cannot be compared"):
            aligned(*((b, a) if swapped else (a, b)))


def test_series_have_names_units_numbers_and_first_differences():
    a = result(n=np.arange(12).reshape(3, 4))
    b = changed("kinds", 6, 2.0, of=changed("x", 4, 5.0, of=a))
    b.kinds.loc[{"society": 1, "day": 6, "kind": "a"}] = 0.0
    found = compared(a, b, ["x", "kinds", "n"])
    assert found.labels == ["x", "kinds[a]", "kinds[b]", "n"]
    assert found.units == ["util", "1", "1", "1"]
    assert found.firsts == [4, NEVER, 6, NEVER] and (found.first, found.clock) == (4, "day")
    assert found.base[3].tolist() == found.other[3].tolist() == a.n.values.tolist()
    assert found.other[0].tolist() == b.x.values.tolist()
    assert found.other[2].tolist() == b.kinds.values[..., 1].tolist()
    later = compared(a, b, "x", window="6:")
    assert later.ticks.tolist() == [6, 8] and later.firsts == [NEVER] and later.first == 4
    turned = compared(a.transpose("kind", "day", "society"), b, ["kinds", "n"])
    assert turned.base[2].tolist() == a.n.values.tolist()
    assert (turned.first, turned.firsts) == (4, [NEVER, 6, NEVER])
    with pytest.warns(EffectWarning, match="nothing differs"):
        assert compared(a, a, "x").first == NEVER


def test_only_variables_of_both_results_can_be_chosen():
    a, b = result(only=np.zeros((3, 4))), changed("x", 4)
    b["other"] = b.x + 1
    b["still"] = a["still"] = "society", [0.0, 0.0, 0.0]
    for one, two in ((a, b), (b, a)):
        assert compared(one, two, None).labels == ["x", "far"]
        assert compared(one, two, "kinds").labels == ["kinds[a]", "kinds[b]"]
        for name in ("only", "other", "still", "nothing"):
            with pytest.raises(ConfigError, match=name):
                compared(one, two, name)


def test_without_names_the_headlines_of_the_workload_are_compared():
    a, b = result(utility=np.zeros((3, 4)), gini=np.zeros((3, 4))), changed("x", 4)
    b["utility"] = a.utility + 1
    b["gini"] = a.gini
    for one in (a, b):
        one.attrs = made_by("economy")
    found = compared(a, b, None)
    assert {*found.labels} == {"utility", "gini"}
    assert compared(a.drop_vars(found.labels), b, None).labels == ["x", "far"]


def runs(points=(0, 0, 0), replicates=(0, 1, 2), seeds=(5, 5, 5), **attrs):
    """Return the runs of a study: x is 10 times the replicate."""
    values = np.array(replicates, float)[:, None] * 10 + np.zeros((1, 4))
    coords = {
        "point": ("run", list(points)),
        "replicate": ("run", list(replicates)),
        "seed": ("run", list(seeds)),
        "day": DAYS,
    }
    own = {"clock": "day", "copies": "society", "points": 1, **attrs}
    return xr.Dataset({"x": (("run", "day"), values)}, coords, own)


def test_runs_of_a_point_are_paired_by_their_replicates():
    one, other, paired = aligned(runs(), runs(replicates=(2, 1, 0)))
    assert paired and one.x.values[:, 0].tolist() == other.x.values[:, 0].tolist() == [0, 10, 20]
    assert one.attrs["seed"] == 5
    numbered = runs().assign_coords(society=("run", [7, 8, 9]))
    assert aligned(numbered, numbered)[0][PAIR].values.tolist() == [7, 8, 9]
    with pytest.warns(EffectWarning, match="other seeds \\(5, 6\\)"):
        aligned(runs(), runs(seeds=(6, 6, 6)))
    several = aligned(runs(seeds=(5, 6, 7)), runs(seeds=(5, 6, 7)))
    assert several[2] and "seed" not in several[0].attrs
    bare = runs().drop_vars(["point", "seed"])
    assert aligned(bare, bare)[2]
    for points in ((0, 0, 1), (0, 1, 2)):
        with pytest.raises(ConfigError, match=f"a study with {len({*points})} points is not one"):
            aligned(runs(points), runs())


def test_a_variable_that_a_result_does_not_record_is_no_difference():
    """In a study it is missing at the points without it."""
    ones = np.ones((3, 4))
    assert first(result(n=ones), result(n=ones * np.nan)) == (NEVER, NEVER)
    some = ones.copy()
    some[:, :2] = np.nan
    assert first(result(n=ones), result(n=some)) == (2, 2)
    assert first(result(n=np.ones((3, 4), int)), result(n=some)) == (2, 2)
    assert first(result(n=ones > 0), result(n=ones < 0)) == (2, 2)


def test_numbers_and_words_differ():
    words, real = result(n=[["a"] * 4] * 3), result(n=np.ones((3, 4)))
    assert first(words, real) == (2, 2)


def test_series_are_those_of_both_and_units_and_lags_those_of_the_base():
    a, b = result(), changed("x", 6, of=changed("far", 2))
    b = b.assign_coords(kind=["a", "c"])
    for name in ("x", "far"):
        b[name].attrs = {}
    found = compared(a, b, ["x", "kinds"])
    assert (found.labels, found.units) == (["x", "kinds[a]"], ["util", "1"])
    assert found.first == 6 and compared(b, a, "x").first == 2


def test_results_without_pairs_have_no_first_difference():
    a, b = result(), changed("x", 4)
    b.attrs = {**ATTRS, "seed": 2}
    with pytest.warns(EffectWarning, match="no pairs"):
        found = compared(a, b, None)
    assert (found.first, found.firsts, found.paired) == (NEVER, [NEVER] * 2, False)


def test_a_series_has_ticks_in_both_results():
    a, b = result(own=np.zeros((3, 4)), alone=np.zeros((3, 4))), changed("x", 4)
    b["own"] = "society", [1.0, 2.0, 3.0]
    a["still"] = b["still"] = "society", [0.0, 0.0, 0.0]
    for one, two, has, lacks in (
        (a, b, "base", "other result"),
        (b, a, "other result", "base"),
    ):
        assert compared(one, two, None).labels == ["x", "far"]
        for name in ("own", "still", "nothing"):
            with pytest.raises(ConfigError, match=f"'{name}': the file has no such variable"):
                compared(one, two, name)
        said = f"'alone': the {has} has this variable, the {lacks} does not record it, so"
        with pytest.raises(ConfigError, match=said):
            compared(one, two, "alone")


def test_a_study_takes_lags_from_its_workload_unless_it_names_them():
    """Inequality of three days depends on the day after; a study does not record lags."""

    def pair(**attrs):
        data = runs(**attrs).rename(x="utility")
        data["gini_3day"] = data.utility.copy()
        other = data.copy(deep=True)
        other.gini_3day[1, 0] += 1
        other.utility[1, 2] += 1
        return data, other

    economy = "workload: economy\nagents: 5\nresources: 4\ndays: 6\n"
    assert first(*pair(configuration=economy)) == (6, 6)
    assert first(*pair(configuration="workload: economy\nagents: none\n")) == (2, 2)
    assert first(*pair()) == (2, 2)
    a, b = pair(configuration=economy)
    for one in (a, b):
        one.utility.attrs["lag"] = 1
    assert first(a, b) == (2, 2)
    a, b = pair(configuration=economy)
    for one in (a, b):
        del one.attrs["points"]
    assert first(a, b) == (2, 2)


def policies(**more):
    """Return two societies of the economy with income 1 and 2, and further series."""
    data = {"income": (("society", "day"), np.array([[1.0, 1], [2, 2]]))}
    data |= {name: (("society", "day"), np.array(one, float)) for name, one in more.items()}
    return xr.Dataset(data, {"society": [0, 1], "day": [1, 2]}, made_by("economy"))


NEVER_TAXED = [[np.nan] * 2] * 2


@pytest.mark.parametrize("base", [policies(), policies(units_taxed=NEVER_TAXED)])
def test_what_is_left_out_without_a_policy_is_0_or_the_equal_series(base):
    taxed = policies(units_taxed=[[0, 3], [0, 5]], disposable_income=[[1, 1], [2, 0]])
    found = compared(base, taxed, ["units_taxed", "disposable_income"])
    assert found.base.tolist() == [[[0, 0], [0, 0]], [[1, 1], [2, 2]]]
    assert found.other.tolist() == [[[0, 3], [0, 5]], [[1, 1], [2, 0]]]
    back = compared(taxed, base, ["units_taxed", "disposable_income"])
    assert back.base.tolist() == found.other.tolist()
    assert (found.first, back.first) == (2, 2)
    lone = taxed.isel(society=[0]).assign_attrs(seed=7)
    with pytest.warns(EffectWarning, match="no pairs"):
        apart = compared(base, lone, "units_taxed")
    assert (apart.base.shape, apart.other.shape) == ((1, 2, 2), (1, 1, 2))


def test_what_equals_a_series_that_is_not_recorded_is_unknown():
    bare = policies(x=[[1, 1], [1, 1]]).drop_vars("income")
    other = policies(x=[[1, 2], [1, 1]], disposable_income=[[1, 1], [2, 0]])
    with pytest.raises(ConfigError, match="'disposable_income': the other result has this"):
        compared(bare, other, "disposable_income")
    assert compared(policies(x=[[0, 0], [0, 0]]), policies(x=[[0, 0], [0, 1]]), "x").first == 2
