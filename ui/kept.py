"""What was kept to be run again, templates and solutions alike, as one list."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NamedTuple

from domain.tool import ToolId
from ui.client import Client
from ui.reruns import Template, templates
from ui.solutions import Solution, solutions

Kind = Literal["template", "solution"]


class Kept(NamedTuple):
    """A line of the list. ``serves``: requests, or what it is for; ``good`` of ``runs``: how it has done; ``likeness``: to a request that was searched for."""

    kind: Kind
    id: str
    name: str
    serves: tuple[str, ...] = ()
    calls: tuple[ToolId, ...] = ()
    own: bool = True
    shared: bool = False
    good: int = 0
    runs: int = 0
    last_used: datetime | None = None
    suspended: str = ""
    likeness: float | None = None

    def says(self, words: str) -> bool:
        """Whether all these words are in what is told of it."""
        text = " ".join((self.name, *self.serves, *self.calls)).casefold()
        return all(word in text for word in words.casefold().split())


def kept_ones(client: Client, search: str = "") -> list[Kept]:
    """All; or those that say ``search``, then the solutions that would serve it as a request, the nearest first."""
    listed = [_of_template(one) for one in templates(client)] if client.can("/templates") else []
    if not client.can("/solutions"):
        return [one for one in listed if one.says(search)]
    listed += {one.id: _of_solution(one) for one in solutions(client)}.values()
    if not search:
        return listed
    said = [one for one in listed if one.says(search)]
    known = {one.id for one in said}
    near = (_of_solution(one) for one in solutions(client, search))
    return said + [one for one in near if one.id not in known]


def chosen(listed: Sequence[Kept], kind: str = "", whose: str = "") -> list[Kept]:
    """Those of a kind, and those that are one's ``own`` or of ``others``; empty: any."""
    return [one for one in listed if kind in ("", one.kind) and (not whose or one.own == (whose == "own"))]


def _of_template(one: Template) -> Kept:
    return Kept(
        "template", one.id, one.name, (one.description,) if one.description else (), own=one.own, shared=one.shared,
        good=one.use.answered, runs=one.use.runs, last_used=one.use.last_used_at,
    )  # fmt: skip


def _of_solution(one: Solution) -> Kept:
    name = next(iter(one.patterns), "")
    return Kept(
        "solution", one.id, name, tuple(one.patterns[1:]), tuple(one.path), own=one.own, shared=not one.own,
        good=one.good, runs=one.good + one.bad, suspended=one.suspended, likeness=one.likeness,
    )  # fmt: skip
