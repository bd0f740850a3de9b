"""API-Bank's dialogues as published: one file a dialogue, one turn a line, in ``lv1-lv2-samples/<level>/<name>.jsonl``."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from domain.trajectory import Trajectory
from graph.importers import apibank
from graph.importers.records import RecordError, load

_SAMPLES = "lv1-lv2-samples"
_FIRST_LINE = 1 << 20


def find_dialogue_files(path: Path) -> Iterator[Path]:
    """Yield the dialogue files of a folder in order: all its JSONL files if any of them is a dialogue, else none.

    The folder may be that of the samples, of a level, or the one above. Broken files are yielded, too, so that they get
    reported.
    """
    root = path / _SAMPLES if (path / _SAMPLES).is_dir() else path
    files = sorted(chain(root.glob("*.jsonl"), root.glob("*/*.jsonl")))
    if any(map(is_dialogue, files)):
        yield from files


def is_dialogue(file: Path) -> bool:
    """Return whether the first line of a file is a turn of a dialogue."""
    if file.suffix != ".jsonl" or not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            return "role" in load(stream.readline(_FIRST_LINE).removeprefix(b"\xef\xbb\xbf"))
    except (RecordError, OSError):
        return False


def parse_dialogue_file(body: bytes, name: str) -> Trajectory:
    """Parse the dialogue in a file's content. Raises ``RecordError`` that names the unreadable line."""
    turns: list[object] = []
    for number, line in enumerate(body.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        if line.strip():
            try:
                turns.append(load(line))
            except RecordError as error:
                raise RecordError(f"line {number}: {error}") from error
    return apibank.parse_trajectory({"id": name, "turns": turns})
