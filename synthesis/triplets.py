"""Triplets of query, solution and code, with which SoAy aligns models (Wang et al. 2024, section 6.1).

A file holds one JSON object a line.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import Field
from pydantic.types import JsonValue

from domain.model import JsonObject, Model


class Triplet(Model):
    """A request with the functions and the code that answer it."""

    query: str
    """The request, with its values."""
    solution: tuple[str, ...]
    """Names of the functions that are called, in order."""
    code: str
    """The program that calls them."""
    inputs: JsonObject = Field(default_factory=dict[str, JsonValue])
    """Values of the query by the code's names for them; empty where the code holds them as constants."""


def build_triplet(
    query: str, solution: Sequence[str], code: str, inputs: Mapping[str, JsonValue] | None = None
) -> Triplet:
    """Build a triplet whose code runs as it is: its first lines assign the inputs."""
    values = dict(inputs or {})
    assignments = "".join(f"{name} = {value!r}\n" for name, value in values.items())
    return Triplet(query=query, solution=tuple(solution), code=assignments + code, inputs=values)


def write_triplets(path: Path, triplets: Iterable[Triplet]) -> int:
    """Write a file of triplets, a line each, and return their number; the file is replaced atomically."""
    # In the same folder, so that the replacement is atomic; with the process id, so that two writers do not share it.
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    written = 0
    try:
        with temporary.open("w", encoding="utf-8") as file:
            for item in triplets:
                file.write(item.model_dump_json() + "\n")
                written += 1
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return written


def read_triplets(path: Path) -> list[Triplet]:
    """Read the triplets of a file."""
    with path.open(encoding="utf-8") as lines:
        return [Triplet.model_validate_json(line) for line in lines if line.strip()]
