"""Settings with which Sphinx makes the site of these pages; docs/site/build.py runs it.

Sphinx with MyST was taken, and not MkDocs, because its search works from file://, without a server;
because it reads docstrings and notebooks, and every page as it is; and because a link within the
site that leads nowhere is an error.
"""

import re
from pathlib import Path

from societies.version import package_version

ROOT = Path(__file__).resolve().parents[2]
project = "Societies"
author = "The Societies developers"
copyright = f"2026, {author}"
version = release = package_version()
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "docs/index"
include_patterns = [
    *("*.md", "docs/*.md", "docs/design/*.md", "docs/notebooks/*.ipynb", "docs/changes/README.md"),
    *("benchmarks/*.md", "experiments/**/*.md", "tests/*/README.md"),
]
exclude_patterns = [".venv", ".git", "dist"]
html_theme = "furo"
html_title = f"Societies {release}"
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_js_files = [("../../versions.js", {"priority": 900}), ("menu.js", {"priority": 901})]
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "attrs_inline"]
nb_execution_mode = "off"  # tests/packaging/test_notebooks.py executes them
autodoc_typehints = "none"
suppress_warnings = ["misc.highlighting_failure", "toc.not_included", "myst.header"]
html_copy_source = False


def to_files(app, docname, source):
    """Make links to folders lead to their page, or name the folder if it has none."""
    here = (ROOT / docname).parent

    def changed(match):
        text, target = match[1], match[2]
        folder = here / target.partition("#")[0]
        if "://" in target or not folder.is_dir() or target.startswith("#"):
            return match[0]
        if (folder / "README.md").is_file():
            return f"[{text}]({target.rstrip('/')}/README.md)"
        path = folder.resolve().relative_to(ROOT)
        return text if str(path) in text else f"{text} (`{path}`)"

    source[0] = re.sub(r"(?<!!)\[((?:[^\[\]`]|`[^`]*`)+)\]\(([^)\s]+)\)", changed, source[0])


DEFINED = "docs/results"
SHOWING = re.compile(r"docs/(gallery|plots)|experiments/economy/paper/.*")
"""The page that defines the variables, and those with figures, from which each name leads there."""


def to_definitions(app, docname, source):
    """Give each row of the table of variables a place, and lead to it from pages with figures."""
    text = (ROOT / f"{DEFINED}.md").read_text(encoding="utf-8")
    table = text.partition("<!-- begin: variables -->")[2].partition("<!-- end")[0]
    names = "|".join(re.findall(r"^\| `(\w+)` \|", table, re.M))
    if docname == DEFINED:
        source[0] = re.sub(
            rf"^\| `({names})` \|", r"| [`\1`]{#variable-\1} |", source[0], flags=re.M
        )
    elif SHOWING.fullmatch(docname):
        source[0] = re.sub(rf"(?<!\[)`({names})`", r"[`\1`](#variable-\1)", source[0])


def to_meanings(app, what, name, thing, options, lines):
    """Put what follows ``name :`` into the description if it is a meaning, not a type.

    Below a type stands the description, which begins with a capital letter; a meaning stands alone,
    or is continued.
    """
    for i in reversed(range(len(lines))):
        found = re.fullmatch(r"( *)([\w*]+(?:, [\w*]+)*) : (.+)", lines[i])
        if found and not re.match(rf"{found[1]} +[A-Z`]", "".join(lines[i + 1 : i + 2])):
            indent, names, meaning = found.groups()
            lines[i : i + 1] = [indent + names, f"{indent}    {meaning}"]


def setup(app):
    """Connect the functions above."""
    app.connect("autodoc-process-docstring", to_meanings, priority=400)  # before napoleon reads it
    app.connect("source-read", to_files)
    app.connect("source-read", to_definitions)
