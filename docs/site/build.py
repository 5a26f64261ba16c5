"""Make the site from the pages of this repository, without the network.

    python docs/site/build.py [FOLDER]

FOLDER, `site` by default, gets a folder for this version, next to those of earlier ones that it
has already, `versions.js` with their list, and `index.html`, which leads to the newest. Every page
can be opened from the disk. Needs `pip install -e '.[site]'`. Any warning is an error: a link
within the site that leads nowhere, or a docstring that cannot be read.
"""

import argparse
import json
import re
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from societies.version import package_version

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LEAD = '<!doctype html><meta http-equiv="refresh" content="0; url={0}"><a href="{0}">{0}</a>\n'


def order(name):
    """Return the key by which versions are sorted."""
    return [int(part) for part in re.findall(r"\d+", name)]


def build(folder, words=()):
    """Make the site of this version in a folder; return Sphinx's exit code."""
    version = package_version()
    made = folder / version
    options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(folder / ".doctrees"), *words]
    if code := build_main([*options, "-c", str(HERE), str(ROOT), str(made)]):
        return code
    shutil.rmtree(folder / "jupyter_execute", ignore_errors=True)  # empty: nothing is executed
    (made / "index.html").write_text(LEAD.format("docs/index.html"), encoding="utf-8")
    found = (path.parents[1].name for path in folder.glob("*/docs/index.html"))
    versions = sorted(found, key=order)
    listed = json.dumps(versions[::-1])
    (folder / "versions.js").write_text(f"const SOCIETIES_VERSIONS = {listed};\n", encoding="utf-8")
    (folder / "index.html").write_text(LEAD.format(f"{versions[-1]}/index.html"), encoding="utf-8")
    return 0


def main():
    """Make the site; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "site")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    code = build(folder)
    if code == 0:
        print(folder / "index.html")
    return code


if __name__ == "__main__":
    sys.exit(main())
