"""Journal of mining: a file with a line for each combination that is done, from which a run resumes."""

import json
import os
from collections import Counter
from collections.abc import Collection, Iterator
from hashlib import blake2b
from pathlib import Path

from pydantic import Field, ValidationError

from domain.model import Model
from synthesis.triplets import Triplet


class MiningRecord(Model):
    """Outcome of one combination, as a line of the journal."""

    key: str
    way: str
    """How it was executed (``live``, ``recorded``, ``nothing``), and how its questions were written."""
    kept: tuple[str, ...] = ()
    """Ids of the solutions that were kept."""
    intents: int = 0
    questions: int = 0
    tried: int = 0
    dropped: dict[str, int] = Field(default_factory=dict[str, int])
    triplets: tuple[Triplet, ...] = ()


def hash_key(key: str) -> bytes:
    """Return a short hash of a combination's key; the hashes of a large store fit into memory."""
    return blake2b(key.encode(), digest_size=12).digest()


class MiningJournal:
    """A journal as a file of JSON lines; a line that was cut off counts as not written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read_records(self) -> Iterator[MiningRecord]:
        """Yield all records; where a combination has several, the latest comes last."""
        if not self._path.exists():
            return
        with self._path.open(encoding="utf-8") as lines:
            for line in lines:
                if line.endswith("\n") and line.strip():
                    try:
                        yield MiningRecord.model_validate_json(line)
                    except ValidationError:
                        continue

    def collect_done(self, way: str) -> set[bytes]:
        """Return the hashed keys (:func:`hash_key`) of the combinations that were done in this way."""
        return {hash_key(record.key) for record in self.read_records() if record.way == way}

    def build_report(self, way: str, hashed_keys: Collection[bytes]) -> "MiningReport":
        """Build the report of these combinations, done in this way."""
        report = MiningReport()
        for record in self.read_records():
            if record.way == way and hash_key(record.key) in hashed_keys:
                report.add(record)
        return report

    def add(self, record: MiningRecord) -> None:
        """Append the record of a combination, once its solutions are stored."""
        with self._path.open("a+b") as file:
            length = file.seek(0, os.SEEK_END)
            file.seek(max(0, length - 1))
            # A crash may have cut the last line off: begin a new line, so that only that record is lost.
            ends_line = file.read(1) in (b"\n", b"")
            file.write(b"" if ends_line else b"\n")
            file.write(record.model_dump_json().encode() + b"\n")

    def read_triplets(self) -> Iterator[Triplet]:
        """Yield the triplets of all solutions, each query with its code once."""
        seen: set[str] = set()
        for record in self.read_records():
            for item in record.triplets:
                key = json.dumps([item.query, item.code])
                if key not in seen:
                    seen.add(key)
                    yield item


class MiningReport:
    """Counts of a run and of what was done before it."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Combinations, intents, questions, executed programs and kept solutions."""
        self.dropped: Counter[str] = Counter()
        """Intents that were not kept, by reason."""
        self.left_out: Counter[str] = Counter()
        """What exceeded the limits, by kind."""
        self.failure = ""
        """Message of the first call that failed in this run."""

    def add(self, record: MiningRecord) -> None:
        """Count one combination."""
        self.counts.update(
            combinations=1,
            intents=record.intents,
            questions=record.questions,
            executed=record.tried,
            kept=len(record.kept),
        )
        self.dropped.update(record.dropped)

    def merge(self, other: "MiningReport") -> None:
        """Add the counts of another report."""
        self.counts.update(other.counts)
        self.dropped.update(other.dropped)
        self.left_out.update(other.left_out)
