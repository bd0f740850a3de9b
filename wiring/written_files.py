"""The files of written negatives and made-up requests: a line each."""

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from domain.errors import BrokenInputError, UsageError
from domain.model import what_is_wrong
from graph.importers.lines import read_lines
from graph.importers.records import Skipped

A = TypeVar("A", bound=BaseModel)


def read_written(path: Path, kind: type[A]) -> list[A]:
    """The lines of a file that ``scripts/write_examples.py`` wrote.

    Raises:
        UsageError: there is no such file. BrokenInputError: a line is something else.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; scripts/write_examples.py writes one")
    found: list[A] = []
    for line in read_lines(path):
        if isinstance(line, Skipped):
            raise BrokenInputError(line.reason, file=str(path), line=line.line)
        try:
            found.append(kind.model_validate_json(line.body))
        except ValidationError as error:
            raise BrokenInputError(what_is_wrong(error), file=str(path), line=line.number) from error
    return found


def write_lines(path: Path, items: Iterable[BaseModel]) -> None:
    """A line each, in place of what was there: all of it or nothing."""
    beside = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text("".join(item.model_dump_json() + "\n" for item in items), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
