"""What does the file of a match hold? Its games, the players and the first position."""

from __future__ import annotations

from societies.workload.running.contents import SeriesAndDetail


class MatchContents(SeriesAndDetail):
    """The default contents, with the players and the first position."""

    def attributes(self) -> dict[str, str | int]:
        """Return the attributes of the file with the players and the first position."""
        first, second = self.workload.names(self.config)  # type: ignore[attr-defined]
        return {
            **super().attributes(),
            "title": f"{first} against {second}",
            "first_player": first,
            "second_player": second,
            **self.workload.position(self.config),  # type: ignore[attr-defined]
        }
