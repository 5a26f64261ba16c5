"""Is the software cited as CITATION.cff says, and does a file hold reference and command line?"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

import societies
from societies import citation
from societies.errors import command_line, shell_words
from societies.workload.running.registry import workload_names

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"workload": "economy", "agents": 4, "resources": 7, "days": 2}


def test_citation_file_and_command_say_the_same():
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    own, haney = (citation.references()[name].fields for name in (citation.SOFTWARE, "economy"))
    assert own["title"].strip("{}") == said["title"]
    assert [own["author"].strip("{}")] == [a["name"] for a in said["authors"]]
    assert (own["version"], own["license"]) == (said["version"], said["license"])
    assert own["year"] == str(said["date-released"].year)
    (paper,) = said["references"]
    assert haney["title"].strip("{}") == paper["title"]
    assert haney["author"].split(" and ") == [a["family-names"] for a in paper["authors"]]
    assert haney["year"] == str(paper["year"])
    assert (haney["type"], haney["url"]) == (paper["notes"], paper["url"])


def test_every_model_that_is_cited_exists():
    models = set(citation.references()) - {citation.SOFTWARE}
    assert "economy" in models and models <= set(workload_names())


@pytest.mark.parametrize("name", ["economy", "economy/quickstart"])
def test_bibtex_of_a_model(name, shell):
    code, out, err = shell("cite", name)
    assert (code, err) == (0, "")
    first, second = out.strip().split("\n\n")
    assert first.startswith("@software{societies,\n")
    assert second.splitlines() == [
        "@techreport{haney2016income,",
        "  author       = {Haney and Haarsma and Ditta},",
        "  title        = {{Income Inequality \\& Technology: "
        "What can Agent-Based Models Tell Us?}},",
        "  year         = {2016},",
        "  type         = {Working paper},",
        "  url          = {https://github.com/bhaney22/SocietiesABM},",
        "}",
    ]


def test_a_result_is_cited_whatever_its_name(shell, tmp_path):
    path = tmp_path / "result"
    societies.run(societies.config_from_dict(SMALL), out=path, device="reference")
    assert shell("cite", str(path)) == shell("cite", "economy")


def test_a_workload_without_a_publication(shell):
    code, out, err = shell("cite", "matmul")
    assert code == 0
    assert out.startswith("@software{societies,") and out.count("@") == 1
    assert err == "note: matmul follows no single publication\n"


def test_a_file_holds_reference_and_command(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.yaml").write_text("\n".join(f"{key}: {value}" for key, value in SMALL.items()))
    words = ["run", "my.yaml", "--device", "reference", "-q", "--out", "my own.h5"]
    assert shell(*words)[0] == 0
    with societies.open_results("my own.h5") as results:
        assert results.attrs["command"] == f"societies {' '.join(words[:-1])} 'my own.h5'"
        assert results.attrs["reference"] == (
            "Haney, Haarsma and Ditta (2016): Income Inequality & Technology: What can Agent-Based "
            "Models Tell Us? Working paper, https://github.com/bhaney22/SocietiesABM"
        )
    assert "@techreport{haney2016income," in shell("cite", "my own.h5")[1]
    assert "my own.h5'" in shell("info", "my own.h5")[1]
    assert command_line() == ""


def test_a_run_of_python_has_no_command(tmp_path):
    societies.run(societies.config_from_dict(SMALL), device="reference", out=tmp_path / "own.h5")
    with societies.open_results(tmp_path / "own.h5") as results:
        assert "command" not in results.attrs
        assert "reference" in results.attrs
    with shell_words(["run", "a b"]):
        assert command_line() == "societies run 'a b'"
        with shell_words():
            assert command_line() == "societies run 'a b'"
