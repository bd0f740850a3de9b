"""Blocks: the picklable pieces in which sources are counted and applied, also by other processes.

Every record has a key, the hash of its content, and a block's batch names the keys of its records. So a source that was
imported before, in whole or in part, in this order or another, adds only what is new. The key is made of:

- for a line: its bytes, and how often the same line stood above it in its file (a file may repeat itself; two files may not);
- for a file of a folder: its group's and its own name, its size and its checksum.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from time import perf_counter
from typing import Literal
from zlib import crc32

from domain.tool import ToolId, is_unresolved
from domain.trajectory import Call, Outcome, RecordedCall, Solved, Trajectory
from graph.answer_shapes import arguments_said, shape_of_answer
from graph.counting import Tally, count_recorded, count_trajectory
from graph.dataflow import Made, taken
from graph.facts import GraphBatch
from graph.function_names import NameIndex
from graph.importers import apibank, dialogues, jsonl, trees
from graph.importers.lines import Line, read_lines
from graph.importers.records import Record, RecordError, Skipped, load, read_capped
from graph.lenient_json import read_value
from graph.repeat_counter import RepeatCounter
from graph.shapes import Shape

Kind = Literal["trajectories", "calls"]
FILES_A_BLOCK = 256
LINES_A_BLOCK = 1_000
BYTES_A_BLOCK = 4 << 20
ANSWERS_A_TOOL = 3
"""Maximum number of answers of one tool that are learnt from in a block."""


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines of one file."""

    path: str
    kind: Kind
    lines: tuple[tuple[str, int, bytes], ...]
    """Key, line number and bytes of each line."""
    skipped: tuple[Skipped, ...]
    weight: int
    """Bytes of the file that were read for this block."""


@dataclass(frozen=True, slots=True)
class FileBlock:
    """Files of search trees or dialogues, one record in each."""

    paths: tuple[str, ...]
    weight: int
    """Number of files."""


Block = LineBlock | FileBlock


@dataclass(slots=True)
class Counted:
    """Result of counting a block."""

    batch: GraphBatch
    """Counts of the new records only."""
    tally: Tally = field(default_factory=Tally)
    """Counts of all records, new or not."""
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    recorded: list[tuple[ToolId, RecordedCall]] = field(default_factory=list[tuple[ToolId, RecordedCall]])
    """New recorded calls whose tool is known."""
    solved: list[Solved] = field(default_factory=list[Solved])
    """Requests of new, accepted trajectories on whose path every tool has a document."""
    answers: dict[ToolId, list[Shape]] = field(default_factory=dict[ToolId, list[Shape]])
    """Shapes of the first new answers of each tool."""
    parse_seconds: float = 0.0
    count_seconds: float = 0.0


def line_blocks(path: Path, kind: Kind) -> Iterator[LineBlock]:
    """Yield the blocks of a JSONL file, cut by number of lines and size."""
    seen, start = RepeatCounter(), 0
    lines: list[tuple[str, int, bytes]] = []
    skipped: list[Skipped] = []
    size = position = 0
    for line in read_lines(path):
        if isinstance(line, Line):
            lines.append((_line_key(kind, line.body, seen), line.number, line.body))
            size, position = size + len(line.body), line.position
        else:
            skipped.append(line)
        if len(lines) >= LINES_A_BLOCK or size >= BYTES_A_BLOCK:
            yield LineBlock(str(path), kind, tuple(lines), tuple(skipped), position - start)
            lines, skipped, size, start = [], [], 0, position
    if lines or skipped:
        yield LineBlock(str(path), kind, tuple(lines), tuple(skipped), position - start)


def file_blocks(path: Path) -> Iterator[FileBlock]:
    """Yield the blocks of a folder of search trees or dialogues, or of one such file."""
    files = chain(trees.tree_files(path), dialogues.dialogue_files(path)) if path.is_dir() else iter((path,))
    while paths := tuple(str(file) for file in islice(files, FILES_A_BLOCK)):
        yield FileBlock(paths, len(paths))


def count_block(block: Block, names: NameIndex, applied: frozenset[str] = frozenset()) -> Counted:
    """Read and count a block. Records whose key is in ``applied`` are tallied but left out of the batch.

    A record that cannot be read has no key, so it is tried again when its source is imported again.
    """
    counted = Counted(GraphBatch(key=""))
    tallied_only = GraphBatch(key="")
    for record in _records(block, counted):
        start = perf_counter()
        new = record.key not in applied and record.key not in counted.batch.records
        batch = counted.batch if new else tallied_only
        if new:
            batch.records.add(record.key)
        if isinstance(record.content, Trajectory):
            path = count_trajectory(batch, counted.tally, record.content, names)
            if new:
                _look_at(counted.answers, record.content.attempts, names)
            if new and path and record.content.query.strip() and not any(map(is_unresolved, path)):
                counted.solved.append(_solved(record.content, path, names))
        else:
            tool = count_recorded(batch, counted.tally, record.content, names)
            if tool is not None and new:
                counted.recorded.append((tool, record.content))
                if record.content.outcome is Outcome.OK:
                    _look_at_one(counted.answers, tool, record.content.response, record.content.arguments)
        counted.count_seconds += perf_counter() - start
    counted.batch.key = "import:" + _digest("\n".join(sorted(counted.batch.records)).encode())
    return counted


def _look_at(answers: dict[ToolId, list[Shape]], calls: Sequence[Call], names: NameIndex) -> None:
    """Learn the shapes of the successful answers of a trajectory's calls."""
    for call in calls:
        if call.outcome is Outcome.OK and call.observation:
            name = names.resolve(call.function, call.category, call.toolset)
            if name.resolved:
                _look_at_one(answers, name.id, call.observation, call.arguments or "")


def _look_at_one(answers: dict[ToolId, list[Shape]], tool: ToolId, answer: str, arguments: str) -> None:
    """Learn the shape of one answer, unless enough of the tool's answers are known."""
    if len(answers.get(tool, ())) < ANSWERS_A_TOOL:
        given = read_value(arguments)
        shape = shape_of_answer(answer, arguments_said(given.values()) if isinstance(given, dict) else ())
        if shape is not None:
            answers.setdefault(tool, []).append(shape)


def _solved(trajectory: Trajectory, path: tuple[ToolId, ...], names: NameIndex) -> Solved:
    """Return the solved request of a trajectory, with the arguments that its calls took from earlier answers."""
    calls = [
        Made(
            names.resolve(call.function, call.category, call.toolset).id, call.outcome, call.arguments, call.observation
        )
        for call in trajectory.path
    ]
    return Solved(trajectory.query.strip(), path, tuple(taken(trajectory.query, calls) if len(calls) > 1 else ()))


@dataclass(frozen=True, slots=True)
class _Read:
    """A record that was read, with its key."""

    key: str
    content: Trajectory | RecordedCall


def _records(block: Block, counted: Counted) -> Iterator[_Read]:
    """Yield the records of a block; broken ones go to ``counted.skipped``, seconds to ``counted.parse_seconds``."""
    if isinstance(block, LineBlock):
        counted.skipped.extend(block.skipped)
        for key, number, body in block.lines:
            yield from _read(counted, block.path, number, lambda key=key, body=body: _from_line(block, key, body))
    else:
        for path in block.paths:
            yield from _read(counted, path, None, lambda path=path: _from_file(path))


def _read(counted: Counted, file: str, line: int | None, read: Callable[[], _Read]) -> Iterator[_Read]:
    """Yield the record that ``read`` returns, or nothing if it cannot be read."""
    start = perf_counter()
    try:
        record = read()
    except (RecordError, OSError) as error:
        reason = str(error) if isinstance(error, RecordError) else f"cannot be read: {error.strerror}"
        counted.skipped.append(Skipped(file, line, reason))
        return
    finally:
        counted.parse_seconds += perf_counter() - start
    yield record


def _from_line(block: LineBlock, key: str, body: bytes) -> _Read:
    """Parse one line of a JSONL file."""
    record = load(body)
    if block.kind == "calls":
        return _Read(key, jsonl.recorded_call(record))
    return _Read(key, _trajectory(record, Path(block.path).name.split(".")[0]))


def _trajectory(record: Record, source: str) -> Trajectory:
    """Parse a line of trajectories by its shape: a dialogue, a search tree, or the plain form."""
    if "turns" in record:
        return apibank.trajectory(record)
    if "tree" in record or "trys" in record:
        return trees.trajectory(record, source)
    return jsonl.trajectory(record, source)


def _from_file(path: str) -> _Read:
    """Parse one file of a folder."""
    body = read_capped(path)
    name = "/".join(path.rsplit("/", 2)[-2:])
    # The name already tells the records of a data set apart; size and checksum tell that a file was changed. A
    # cryptographic hash would take half as long as parsing the file.
    key = _digest(f"{name}\0{len(body)}\0{crc32(body)}".encode())
    if path.endswith(".jsonl"):
        return _Read(key, dialogues.trajectory(body, name))
    return _Read(key, trees.trajectory(load(body), name))


def _line_key(kind: Kind, body: bytes, seen: RepeatCounter) -> str:
    """Return a line's key: the hash of its kind and bytes, with a counter if the same line stood above it."""
    digest = sha256(kind.encode() + b"\0" + body).digest()[:16]
    before = seen.before(digest)
    return digest.hex() if not before else f"{digest.hex()}.{before}"


def _digest(content: bytes) -> str:
    """Return the first 32 hexadecimal digits of a SHA-256."""
    return sha256(content).hexdigest()[:32]
