"""How are the software and the publication of a model cited?

``CITATION.cff`` has the same for the software and the economy; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from societies.version import package_version


@dataclass(frozen=True)
class Reference:
    """A publication.

    Attributes
    ----------
    key : of BibTeX
    kind : of entry: article, book, techreport, phdthesis, misc, software
    authors : family names, with given names if the publication is known to us with these
    title, year : of the publication
    more : further fields of BibTeX
    """

    key: str
    kind: str
    authors: tuple[str, ...]
    title: str
    year: int
    more: Mapping[str, str]

    def bibtex(self) -> str:
        """Return the entry for a bibliography; words of the title keep their capitals."""
        fields = {
            "author": " and ".join(self.authors),
            "title": f"{{{self.title}}}",
            "year": str(self.year),
            **self.more,
        }
        lines = [f"  {name:<12} = {{{_escaped(value)}}}," for name, value in fields.items()]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    def text(self) -> str:
        """Return the reference in one line."""
        families = [one.strip("{}").partition(",")[0] for one in self.authors]
        *first, last = families
        names = f"{', '.join(first)} and {last}" if first else last
        place = ", ".join(self.more[name] for name in PLACES if name in self.more)
        end = "" if self.title.endswith("?") else "."
        return f"{names} ({self.year}): {self.title}{end} {place}".strip()


PLACES = ("journal", "type", "school", "publisher", "volume", "pages", "note", "url")
"""Fields that the line of a reference shows, in this order."""


def _escaped(text: str) -> str:
    return text.replace("&", r"\&")


def software() -> Reference:
    """Return the reference of the installed version."""
    return Reference(
        "societies",
        "software",
        ("{The Societies developers}",),
        "Societies: agent-based economics on OpenCL",
        2026,
        {"version": package_version(), "license": "BSD-3-Clause"},
    )


HANEY = Reference(
    "haney2016income",
    "techreport",
    ("Haney", "Haarsma", "Ditta"),
    "Income Inequality & Technology: What can Agent-Based Models Tell Us?",
    2016,
    {"type": "Working paper", "url": "https://github.com/bhaney22/SocietiesABM"},
)
MODELS = {
    "economy": HANEY,
    "bam": Reference(
        "delligatti2011macroeconomics",
        "book",
        (
            "Delli Gatti, Domenico",
            "Desiderio, Saul",
            "Gaffeo, Edoardo",
            "Cirillo, Pasquale",
            "Gallegati, Mauro",
        ),
        "Macroeconomics from the Bottom-up",
        2011,
        {"publisher": "Springer"},
    ),
    "boltzmann": Reference(
        "dragulescu2000statistical",
        "article",
        ("Dragulescu, A.", "Yakovenko, V. M."),
        "Statistical mechanics of money",
        2000,
        {"journal": "European Physical Journal B", "volume": "17"},
    ),
    "zero_intelligence": Reference(
        "gode1993allocative",
        "article",
        ("Gode, D. K.", "Sunder, S."),
        "Allocative efficiency of markets with zero-intelligence traders",
        1993,
        {"journal": "Journal of Political Economy", "volume": "101"},
    ),
    "schelling": Reference(
        "schelling1971dynamic",
        "article",
        ("Schelling, T. C.",),
        "Dynamic models of segregation",
        1971,
        {"journal": "Journal of Mathematical Sociology", "volume": "1"},
    ),
    "kirman_ants": Reference(
        "kirman1993ants",
        "article",
        ("Kirman, A.",),
        "Ants, rationality, and recruitment",
        1993,
        {"journal": "Quarterly Journal of Economics", "volume": "108"},
    ),
    "sugarscape": Reference(
        "epstein1996growing",
        "book",
        ("Epstein, J. M.", "Axtell, R."),
        "Growing Artificial Societies",
        1996,
        {"publisher": "Brookings Institution Press and MIT Press"},
    ),
}
"""Publications of the models, by workload. Other workloads follow no single publication, or one
whose full reference is not known to us; their pages say what they are after."""


def model(workload: str) -> Reference | None:
    """Return the publication of a workload's model, None if there is none."""
    return MODELS.get(workload)
