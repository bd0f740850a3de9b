"""What mining has done so far, a line for each combination: an interrupted one goes on behind the last line, and does nothing twice."""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator
from hashlib import blake2b
from pathlib import Path

from pydantic import Field, ValidationError

from domain.model import Model
from synthesis.triplets import Triplet


class Done(Model):
    """What became of one combination. ``way``: how it was executed (``live``, ``recorded``, ``nothing``), and worded; ``kept``: ids of solutions."""

    key: str
    way: str
    kept: tuple[str, ...] = ()
    intents: int = 0
    questions: int = 0
    tried: int = 0
    dropped: dict[str, int] = Field(default_factory=dict[str, int])
    triplets: tuple[Triplet, ...] = ()


def mark(key: str) -> bytes:
    """A short mark of a combination, so that those of a large store can be held."""
    return blake2b(key.encode(), digest_size=12).digest()


class Journal:
    """A file of lines. A line that was cut off counts as not written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def lines(self) -> Iterator[Done]:
        """All that was done, the last word on each combination last."""
        if not self._path.exists():
            return
        with self._path.open(encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n") and line.strip():
                    try:
                        yield Done.model_validate_json(line)
                    except ValidationError:
                        continue

    def done(self, way: str) -> set[bytes]:
        """The combinations that were worked on in this way, as :func:`mark` has them."""
        return {mark(one.key) for one in self.lines() if one.way == way}

    def report(self, way: str, wanted: Collection[bytes]) -> "Report":
        """What these combinations came to in this way."""
        report = Report()
        for one in self.lines():
            if one.way == way and mark(one.key) in wanted:
                report.add(one)
        return report

    def add(self, done: Done) -> None:
        """Write down what became of a combination, once its solutions are kept."""
        with self._path.open("a+b") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - 1))
            whole = file.read(1) in (b"\n", b"")
            file.write(b"" if whole else b"\n")
            file.write(done.model_dump_json().encode() + b"\n")

    def triplets(self) -> Iterator[Triplet]:
        """Those of all solutions, each query once."""
        seen: set[str] = set()
        for one in self.lines():
            for each in one.triplets:
                told = json.dumps([each.query, each.code])
                if told not in seen:
                    seen.add(told)
                    yield each


class Report:
    """Counts per stage, over a whole run and what was done before it. ``dropped``: intents that are not kept, by why. ``left_out``: what was
    not looked at, for there is more of it than is taken. ``failure``: what the first call that failed said, in this run.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.failure = ""

    def add(self, done: Done) -> None:
        """Count one combination."""
        self.counts.update(
            combinations=1, intents=done.intents, questions=done.questions, executed=done.tried, kept=len(done.kept)
        )
        self.dropped.update(done.dropped)

    def take(self, other: "Report") -> None:
        """Count what another counts."""
        self.counts.update(other.counts)
        self.dropped.update(other.dropped)
        self.left_out.update(other.left_out)
