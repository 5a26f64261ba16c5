"""How are the software and the publication of a model cited? By the entries in ``citation.bib``."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from societies.version import package_version

SOFTWARE = "societies"
PLACES = ("journal", "type", "school", "publisher", "volume", "pages", "note", "url")
"""Fields that the line of a reference shows, in this order."""


class Reference:
    """A publication: an entry of a bibliography in BibTeX, and its fields by name."""

    def __init__(self, entry: str) -> None:
        self.bibtex = entry
        found = re.findall(r"^  (\w+) += \{(.*)\},$", entry, re.M)
        self.fields = {name: value.replace(r"\&", "&") for name, value in found}

    @property
    def text(self) -> str:
        """The reference in one line."""
        authors = self.fields["author"].split(" and ")
        *first, last = (one.strip("{}").partition(",")[0] for one in authors)
        names = f"{', '.join(first)} and {last}" if first else last
        place = ", ".join(self.fields[name] for name in PLACES if name in self.fields)
        title = self.fields["title"].strip("{}")
        end = "" if title.endswith("?") else "."
        return f"{names} ({self.fields['year']}): {title}{end} {place}".strip()


@cache
def references() -> dict[str, Reference]:
    """Return the references of the installed version, `SOFTWARE`, and of models by workload."""
    text = Path(__file__).with_name("citation.bib").read_text(encoding="utf-8")
    entries = re.findall(r"^% (\w+)\n(@.*?^\})$", text, re.M | re.S)
    return {name: Reference(one.replace("VERSION", package_version())) for name, one in entries}
