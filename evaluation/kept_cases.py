"""Verdicts of SoAyEval in a file, appended line by line with the conditions they were measured under.

Several planners share one file, and an interrupted evaluation is resumed from it.
"""

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError
from pydantic.types import JsonValue

from domain.errors import BrokenInputError
from domain.model import Model, what_is_wrong
from evaluation.soay import SoayVerdict
from graph.importers.lines import Line, read_lines
from graph.importers.records import Skipped


class KeptCase(Model):
    """One line of the file: a verdict and the conditions it was measured under."""

    conditions: dict[str, JsonValue]
    verdict: SoayVerdict


class CaseFile:
    """A file of verdicts; with the path None nothing is stored."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def read(self, conditions: Mapping[str, JsonValue]) -> dict[str, SoayVerdict]:
        """Return the verdicts measured under these conditions, by the id of the question.

        Raises:
            BrokenInputError: a line cannot be used.
        """
        if self._path is None or not self._path.is_file():
            return {}
        kept = (_kept(line) for line in read_lines(self._path))
        return {one.verdict.id: one.verdict for one in kept if one.conditions == dict(conditions)}

    def add(self, conditions: Mapping[str, JsonValue], verdict: SoayVerdict) -> None:
        """Append a verdict."""
        if self._path is not None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(KeptCase(conditions=dict(conditions), verdict=verdict).model_dump_json() + "\n")


def _kept(line: Line | Skipped) -> KeptCase:
    if isinstance(line, Skipped):
        raise BrokenInputError(line.reason, file=line.file, line=line.line)
    try:
        return KeptCase.model_validate_json(line.body)
    except ValidationError as error:
        raise BrokenInputError(what_is_wrong(error), file=str(line.number), line=line.number) from error
