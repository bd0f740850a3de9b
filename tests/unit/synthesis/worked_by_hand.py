"""Combinations as a person wrote them down, and as they are mined, in one form."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from domain.tool import ToolDoc
from graph.importers.openapi import read_openapi
from playground.application import create_app
from synthesis.combinations import Combination

FOLDER = Path("tests/data/combinations")
SCHOLAR = frozenset(
    {"searchPerson", "searchPublication", "getPersonInterest", "getPersonBasicInfo", "getPersonPubs", "getCoauthors", "getPublication"}
)  # fmt: skip
_WHO = ("name", "organization", "interest", "name, organization", "name, interest", "organization, interest")

Line = tuple[tuple[str, ...], tuple[str, ...], str]
"""What is said, the functions, and what is asked for: the end of its path, ``!`` for a change, ``each`` for the items of a plain list."""


def by_hand(service: str) -> set[Line]:
    """The list of a service."""
    lines = (line for line in (FOLDER / f"{service}.txt").read_text().splitlines() if line and not line.startswith("#"))
    return {one for line in lines for one in _expanded(*line.split(" | "))}


def _expanded(said: str, path: str, outputs: str) -> Iterator[Line]:
    for some in _WHO if said == "*" else (said,):
        for output in outputs.split(", "):
            yield tuple(sorted(some.split(", "))), tuple(path.split(" -> ")), output


def lines(mined: Iterable[Combination], wanted: set[Line]) -> list[Line]:
    """What was mined, each with the shortest end of its field's path that is wanted of it."""
    return [_line(one, wanted) for one in mined]


def _line(one: Combination, wanted: set[Line]) -> Line:
    said = tuple(sorted(said.parameter.name for said in one.inputs))
    path = tuple(tool.api for tool in one.walk.tools)
    steps = ["!"] if one.output is None else [step for step in one.output.path.replace("[]", "").split(".") if step]
    ends = [".".join(steps[at:]) for at in reversed(range(len(steps)))] or ["each"]
    return next(((said, path, end) for end in ends if (said, path, end) in wanted), (said, path, ends[-1]))


def tools(service: str, folder: Path) -> list[ToolDoc]:
    """The documents of a service."""
    if service != "scholar":
        return list(read_openapi(FOLDER / f"{service}.yaml"))
    file = folder / "playground.json"
    file.write_text(json.dumps(create_app().openapi()))
    return [doc for doc in read_openapi(file) if doc.api in SCHOLAR]
