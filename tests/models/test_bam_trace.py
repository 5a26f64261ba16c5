"""Does the report on a firm agree with the payments of its economy, wherever it begins?"""

import json

import pytest
import yaml
from small import SMALL, small

from societies.models import bam
from societies.models.bam.explain import SHOWN, explain
from societies.models.bam.flows import FLOWS
from societies.models.bam.report import text
from societies.workload import Setup
from societies.workload.running.engines import ReferenceEngine

QUARTERS = 12
REFERENCE = ("--device", "reference")
ENDING = ("--set", "min_wage_every=1", "--set", "quarters=100", "--set", "min_wage=up")
"""Keys with which all firms fail."""


@pytest.fixture(scope="module")
def economy():
    """Return reports on all firms of a small economy, by quarter, and its payments."""
    setup = Setup(bam.WORKLOAD, small("bam", quarters=QUARTERS, replicates=2))
    found = {quarter: [] for quarter in range(1, QUARTERS + 1)}
    for firm in range(setup.config.firms):
        for last, first in ((QUARTERS - SHOWN, 1), (QUARTERS, QUARTERS - SHOWN + 1)):
            shown = explain(setup, firm=firm, quarter=last, economy=1, device="reference").quarters
            assert [one.quarter for one in shown] == list(range(first, last + 1))
            for one in shown:
                found[one.quarter].append(one)
    engine = ReferenceEngine(bam.WORKLOAD, setup.p, first=1)
    engine.start()
    engine.run_ticks(1, QUARTERS)
    logs = engine.logs()
    names = [name for of in bam.WORKLOAD.columns(setup.p).values() for name in of]
    series = [dict(zip(names, row, strict=True)) for row in logs["series"][0].tolist()]
    flow = [dict(zip(FLOWS, row, strict=True)) for row in logs["flow"][0].tolist()]
    return setup, found, flow, series


def test_what_firms_paid_adds_up_to_the_payments_of_the_economy(economy):
    _, found, flow, _ = economy
    for quarter, firms in found.items():
        paid = flow[quarter - 1]
        loans = [(one, loan) for one in firms for loan in one.loans]
        assert sum(one.wages for one in firms) == paid["wages"]
        assert sum(one.wages for one in firms) == sum(sum(one.work.values()) for one in firms)
        assert sum(one.sales for one in firms) == paid["purchases"]
        assert sum(one.dividends for one in firms) == paid["dividends"]
        assert sum(loan.amount for _, loan in loans) == paid["loans"]
        assert sum(loan.back for _, loan in loans) == paid["repaid"]
        assert sum(loan.amount - loan.back for _, loan in loans) == paid["written_off"]
        own = [loan.interest for one, loan in loans if not one.defaulted]
        assert sum(own) == paid["interest"]
        assert sum(one.entrant for one in firms) == paid["entries"] + paid["entries_paid"]
    assert any(one.defaulted and one.loans for firms in found.values() for one in firms)


def test_workers_come_and_go_as_in_the_series(economy):
    _, found, _, series = economy
    for quarter, firms in found.items():
        row = series[quarter - 1]
        for name in ("hired", "fired_excess", "fired_money", "expired"):
            assert sum(len(getattr(one, name)) for one in firms) == row[name], (quarter, name)
        assert sum(one.failed for one in firms) == row["failed_firms"]
    for before, after in zip(list(found.values()), list(found.values())[1:], strict=False):
        for old, new in zip(before, after, strict=True):
            assert old.failed or old.worth == new.worth_before
            assert not old.failed or new.worth_before == old.entrant
            assert new.worth == new.worth_before + new.profit - new.dividends


def test_without_a_quarter_the_report_ends_with_the_first_failure(economy):
    setup, found, _, _ = economy
    failures = {}
    for quarter, firms in found.items():
        for firm, one in enumerate(firms):
            if one.failed:
                failures.setdefault(firm, quarter)
    assert failures
    for firm, quarter in failures.items():
        whole = explain(setup, firm=firm, economy=1, device="reference")
        assert [one.quarter for one in whole.quarters][-1] == quarter
        assert len(whole.quarters) == min(SHOWN, quarter)
        last = whole.quarters[-1]
        assert last == found[quarter][firm]
        words = text(whole).splitlines()
        assert words[0] == f"Firm {firm} of economy 1 failed in quarter {quarter}"
        assert {"Why", "Lenders", "Workers"} <= set(words)
        assert f"  quarter {quarter}: " in text(whole) or not (last.loans or last.lost)
        for loan in last.loans:
            assert f"bank {loan.bank} granted {loan.amount / 2**20:.4g}" in text(whole)


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = {"workload": "bam", **SMALL["bam"], "quarters": QUARTERS, "replicates": 2}
    (tmp_path / "run.yaml").write_text(yaml.safe_dump(settings))


@pytest.mark.ci
def test_a_device_reports_the_same_also_from_a_checkpoint(config, shell):
    words = ("--firm", "2", "--economy", "1", "--quarter", "12")
    code, expected, _ = shell("trace", "run.yaml", *words, *REFERENCE)
    assert code == 0
    assert shell("run", "run.yaml", "-q", "--device", "cpu", "--set", "quarters=8")[0] == 0
    code, found, _ = shell("trace", "run.yaml", *words, "--device", "cpu", "--from", "run.h5")
    assert code == 0
    begin, reached = found.split("\nReached: ")
    assert begin == expected.split("\nReached: ")[0]
    assert reached.startswith("from the checkpoint of quarter 4 in run.h5, quarters 5 to 12 on ")


def test_the_data_hold_what_the_text_says(config, shell):
    words = ("--firm", "1", "--quarter", "5", *REFERENCE, "-o", "json")
    code, out, err = shell("trace", "run.yaml", *words)
    assert (code, err) == (0, "")
    data = json.loads(out, parse_constant=pytest.fail)
    assert (data["firm"], data["economy"], len(data["quarters"])) == (1, 0, 5)
    assert data["quarters"][-1]["wages"] == sum(data["quarters"][-1]["work"].values())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--firm", "6"), "--firm 6: the firms are 0 to 5"),
        (("--firm", "-1"), "--firm -1: the firms are 0 to 5"),
        (("--firm", "1", "--quarter", "0"), "--quarter 0: the configuration has quarters 1 to 12"),
        (("--firm", "1", "--quarter", "13"), "raise it with --set quarters=13"),
        (("--firm", "1", "--economy", "2"), "--economy 2: the configuration's economies are 0 to"),
        (("--firm", "1", "-o", "xml"), "-o xml: choose text or json"),
        (("--firm", "1", "--from", "run.h5"), "--from run.h5: needs the last quarter, --quarter"),
        (
            ("--firm", "1", "--set", "net_worth_ratio=100", "--set", "quarters=4"),
            "--firm 1: does not fail in quarters 1 to 4 of economy 0",
        ),
        (
            ("--firm", "1", *ENDING, "--quarter", "100"),
            "--quarter 100: economy 0 ended in quarter ",
        ),
    ],
)
def test_what_does_not_exist_is_refused(config, shell, words, message):
    code, out, err = shell("trace", "run.yaml", *words, *REFERENCE)
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) <= 2
