"""Does the order of the entries of a phase matter? A check of all accesses to fields.

It is conservative: what it lets pass has no order; a rule that has none for a reason of its own,
such as disjoint pairs, may be refused, and is then carried out for a whole society by one
work-item.
"""

from __future__ import annotations

from collections.abc import Sequence

from societies.translate.frames import Access


def require_no_races(accesses: Sequence[Access], entry: str) -> None:
    """Raise TranslationError if entries write what others write or read.

    ``accesses`` are those of a phase and of the functions that it calls; each work-item has an
    entry of the dimension ``entry``.
    """
    written = {one.field: one for one in accesses if one.what in ("write", "replace")}
    whole = f"or leave {entry} out of the phase's parameters and loop over it."
    for one in accesses:
        if one.what in ("write", "replace") and one.own is None:
            raise one.file.error(
                one.node,
                f"every {entry} works at the same time, and here one writes an entry of "
                f"'{one.field}' that is not its own",
                f"Write to its own entry alone, ...[{entry}], {whole}",
            )
    verbs = {"read": "reads", "alias": "reads", "write": "writes", "replace": "writes"}
    for one in accesses:
        if one.field in written and one.own != written[one.field].own:
            raise one.file.error(
                one.node,
                f"every {entry} works at the same time, and here one {verbs[one.what]} of others "
                f"what they write in line {written[one.field].line}: '{one.field}'",
                f"Read it in a phase of its own before, write to another field, {whole}",
            )


def require_one_name(accesses: Sequence[Access]) -> None:
    """Raise TranslationError if a field gets a new list while a name may stand for its old one."""
    aliases = {one.field: one for one in accesses if one.what == "alias"}
    for one in accesses:
        if one.what == "replace" and one.field in aliases:
            raise one.file.error(
                one.node,
                f"'{one.field}' gets a new list here, and the name of line "
                f"{aliases[one.field].line} may still stand for the old one",
                f"Assign its entries in a loop, or write ... = list(...{one.field}).",
            )
