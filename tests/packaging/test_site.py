"""Is the site made from the pages, without a broken link, and does it work from the disk?"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NAMES = ("chromium", "chromium-browser", "google-chrome")


def variables():
    text = (DOCS / "results.md").read_text()
    table = text.partition("<!-- begin: variables -->")[2].partition("<!-- end")[0]
    return set(re.findall(r"^\| `(\w+)` \|", table, re.M))


def test_the_menu_has_every_page_of_the_documentation():
    listed = set(re.findall(r"^[\w/.-]+$", (DOCS / "index.md").read_text(), re.M))
    pages = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for pattern in ("*.md", "design/*.md", "notebooks/*.ipynb")
        for path in DOCS.glob(pattern)
    }
    assert pages - listed == {"index"}
    assert not [name for name in listed if name.startswith("/") and not page_of(name).is_file()]


def page_of(name):
    return ROOT / f"{name.lstrip('/')}.md"


def test_the_gallery_has_every_figure_with_its_command_and_variables():
    rows = [r for r in (DOCS / "gallery.md").read_text().splitlines() if r.startswith("| ![")]
    shown = {Path(re.search(r"\]\((\S+?)\)", row)[1]) for row in rows}  # type: ignore[index]
    images = {Path("images") / path.name for path in (DOCS / "images").glob("*.png")}
    used = "".join(path.read_text() for path in (*DOCS.glob("*.md"), ROOT / "README.md"))
    assert {path for path in images if path.as_posix() in used} <= shown
    for row in rows:
        cells = row.strip("| ").split(" | ")
        assert "`societies " in cells[1] or "](" in cells[1], row
        for config in re.findall(r"`societies (?:run|view) (\S+?)[` ]", cells[1]):
            assert (ROOT / "configs" / f"{config}.yaml").is_file(), row
        if len(cells) == 3:
            assert set(re.findall(r"`(\w+)`", cells[2])) <= variables(), row


def test_a_figure_of_the_paper_names_its_variables():
    found = 0
    for path in sorted((ROOT / "experiments/economy/paper").glob("*/figure.yaml")):
        wanted = yaml.safe_load(path.read_text()).get("variables", [])
        said = re.search(r"^Drawn from (.*) \(", (path.parent / "README.md").read_text(), re.M)
        named = re.findall(r"`(\w+)`", said[1]) if said else []
        assert sorted(named) == sorted(wanted), path
        found += len(named)
    assert found >= 9


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of this version; SOCIETIES_SITE names a site that was made before."""
    pytest.importorskip("sphinx", reason="needs Sphinx: pip install -e '.[site]'")
    folder = Path(os.environ.get("SOCIETIES_SITE") or tmp_path_factory.mktemp("site"))
    if not (folder / "versions.js").exists():
        words = [sys.executable, str(DOCS / "site/build.py"), str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    (version,) = re.findall(r'"(.+?)"', (folder / "versions.js").read_text())[:1]
    return folder / version


@pytest.mark.ci
def test_every_link_and_picture_of_the_site_exists(site):
    """Sphinx looks at links of pages; here all of the HTML, menus and figures included."""
    checked = 0
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r'(?:href|src)="([^"]*)"', text):
            path = unquote(target.partition("#")[0].partition("?")[0])
            if path and not re.match(r"\w+:|//", path):
                assert (page.parent / path).exists(), f"{page}: {target}"
                checked += 1
    assert checked > 1000


@pytest.mark.ci
def test_the_definition_of_a_variable_is_one_click_from_its_figure(site):
    defined = (site / "docs/results.html").read_text()
    for page in ("docs/gallery.html", "experiments/economy/paper/figure_08/README.html"):
        text = (site / page).read_text()
        assert re.search(r'href="[./]*(docs/)?results\.html#variable-gini"', text), page
    for name in variables():
        assert f'id="variable-{name.replace("_", "-")}"' in defined, name


@pytest.mark.ci
def test_the_functions_begin_with_run_and_meanings_are_not_taken_for_types(site):
    text = (site / "docs/api.html").read_text()
    assert re.findall(r'<dt class="[^"]*" id="([^"]+)"', text)[0] == "societies.run"
    for name, meaning in (("out", "the HDF5 file; default"), ("resume", "continue the file")):
        assert re.search(rf"<strong>{name}</strong> – {meaning}", text), name


@pytest.mark.ci
@pytest.mark.chromium
def test_the_site_is_searched_from_the_disk(site, tmp_path):
    browser = next((path for path in map(shutil.which, NAMES) if path), None)
    if browser is None and not os.environ.get("SOCIETIES_REQUIRE_CHROMIUM"):
        pytest.skip("needs Chromium (Debian: apt install chromium)")
    assert browser, "needs Chromium (Debian: apt install chromium)"
    words = [browser, "--headless=new", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    words += ["--virtual-time-budget=20000", "--dump-dom"]
    words += ["--no-sandbox"] if os.geteuid() == 0 else []
    address = f"{(site / 'search.html').as_uri()}?q=interdependence"
    done = subprocess.run([*words, address], capture_output=True, text=True, check=True)
    assert "docs/results.html" in done.stdout
    assert re.search(r"found \d+ page", done.stdout)
    assert re.search(r'<select[^>]*id="versions"', done.stdout)
