"""Triplets of query, solution and code: the form in which SoAy (Wang et al. 2024, section 6.1) aligns models, one JSON object a line."""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import Field
from pydantic.types import JsonValue

from domain.model import JsonObject, Model


class Triplet(Model):
    """``query``: a request with its values. ``solution``: the functions that serve it, in order. ``code``: the program that calls them.

    ``inputs``: the values of the query, by the names that the code has for them; empty where they stand in the code.
    """

    query: str
    solution: tuple[str, ...]
    code: str
    inputs: JsonObject = Field(default_factory=dict[str, JsonValue])


def triplet(query: str, solution: Sequence[str], code: str, inputs: Mapping[str, JsonValue] | None = None) -> Triplet:
    """A triplet whose code runs as it stands: the values of its inputs are its first lines."""
    values = dict(inputs or {})
    given = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    return Triplet(query=query, solution=tuple(solution), code=given + code, inputs=values)


def write_triplets(path: Path, triplets: Iterable[Triplet]) -> int:
    """Write them, a line each, in place of what the file held; how many there are. A reader sees the old file or the new one, whole."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    written = 0
    try:
        with beside.open("w", encoding="utf-8") as file:
            for one in triplets:
                file.write(one.model_dump_json() + "\n")
                written += 1
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return written


def read_triplets(path: Path) -> list[Triplet]:
    """The triplets of a file."""
    with path.open(encoding="utf-8") as lines:
        return [Triplet.model_validate_json(line) for line in lines if line.strip()]
