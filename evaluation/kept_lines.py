"""Results in a file, appended line by line, so that a long evaluation can be interrupted and resumed."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import ValidationError
from pydantic.types import JsonValue

from domain.errors import BrokenInputError, UsageError
from domain.model import Model, what_is_wrong
from evaluation.expected import Asked
from graph.importers.lines import Line, read_lines


class KeptLine(Model):
    """One line of a results file."""

    id: str
    """Id of the request."""
    conditions: dict[str, JsonValue]
    """The conditions that it was measured under."""


K = TypeVar("K", bound=KeptLine)


class KeptLines(Generic[K]):
    """A file of results of one kind under the same conditions; with the path None nothing is stored."""

    def __init__(self, path: Path | None, conditions: Mapping[str, JsonValue], kind: type[K]) -> None:
        self.conditions = dict(conditions)
        self._path, self._kind = path, kind

    def read(self, asked: Iterable[Asked]) -> dict[str, K]:
        """Return the stored results of these requests, by id.

        Raises:
            UsageError: it was measured under other conditions.
            BrokenInputError: a line cannot be used.
        """
        ids = {one.id for one in asked}
        if self._path is None or not self._path.is_file():
            return {}
        kept = [self._read(line, self._path) for line in read_lines(self._path)]
        # Results of different conditions must not be averaged in one report.
        if strange := next((one.conditions for one in kept if one.conditions != self.conditions), None):
            raise UsageError(f"{self._path} was measured under other conditions ({strange}); name another")
        return {one.id: one for one in kept if one.id in ids}

    def add(self, line: K) -> None:
        """Append a result."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line.model_dump_json() + "\n")

    def _read(self, line: object, path: Path) -> K:
        if not isinstance(line, Line):
            raise UsageError(f"{line} cannot be read; name another file")
        try:
            return self._kind.model_validate_json(line.body)
        except ValidationError as error:
            raise BrokenInputError(what_is_wrong(error), file=str(path), line=line.number) from error
