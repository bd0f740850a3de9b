"""Blocks: the pieces in which sources are counted and applied. Picklable, so that other processes can count them.

Every record has a key, the hash of its content, and a block's batch names the keys of its records. So a source that was
imported before, in whole or in part, in this order or another, adds only what is new:

- a line: its bytes, and how often the same line stood above it in its file (a file may repeat itself; two files may not);
- a file of a folder: its group's and its own name, its size and its checksum.
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
"""Answers of one tool that a block is learnt from."""


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines of one file: (key, number, bytes). ``weight``: bytes of the file that were read for it."""

    path: str
    kind: Kind
    lines: tuple[tuple[str, int, bytes], ...]
    skipped: tuple[Skipped, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class FileBlock:
    """Search trees or dialogues, a file each. ``weight``: their number."""

    paths: tuple[str, ...]
    weight: int


Block = LineBlock | FileBlock


@dataclass(slots=True)
class Counted:
    """What a block came to. The batch holds what is new, the tally everything; ``recorded`` the resolved new calls.

    ``answers``: what the first new answers of each tool looked like. ``solved``: the requests of new trajectories that were kept, where all tools of their paths have documents.
    """

    batch: GraphBatch
    tally: Tally = field(default_factory=Tally)
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    recorded: list[tuple[ToolId, RecordedCall]] = field(default_factory=list[tuple[ToolId, RecordedCall]])
    solved: list[Solved] = field(default_factory=list[Solved])
    answers: dict[ToolId, list[Shape]] = field(default_factory=dict[ToolId, list[Shape]])
    parse_seconds: float = 0.0
    count_seconds: float = 0.0


def line_blocks(path: Path, kind: Kind) -> Iterator[LineBlock]:
    """The blocks of a JSONL file, cut by number and size."""
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
    """The blocks of a folder of search trees or dialogues."""
    files = chain(trees.tree_files(path), dialogues.dialogue_files(path)) if path.is_dir() else iter((path,))
    while paths := tuple(str(file) for file in islice(files, FILES_A_BLOCK)):
        yield FileBlock(paths, len(paths))


def count_block(block: Block, names: NameIndex, applied: frozenset[str] = frozenset()) -> Counted:
    """Read and count a block. Records whose key is ``applied`` are tallied, and left out of the batch.

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
    for call in calls:
        if call.outcome is Outcome.OK and call.observation:
            name = names.resolve(call.function, call.category, call.toolset)
            if name.resolved:
                _look_at_one(answers, name.id, call.observation, call.arguments or "")


def _look_at_one(answers: dict[ToolId, list[Shape]], tool: ToolId, answer: str, arguments: str) -> None:
    if len(answers.get(tool, ())) < ANSWERS_A_TOOL:
        given = read_value(arguments)
        shape = shape_of_answer(answer, arguments_said(given.values()) if isinstance(given, dict) else ())
        if shape is not None:
            answers.setdefault(tool, []).append(shape)


def _solved(trajectory: Trajectory, path: tuple[ToolId, ...], names: NameIndex) -> Solved:
    calls = [
        Made(
            names.resolve(call.function, call.category, call.toolset).id, call.outcome, call.arguments, call.observation
        )
        for call in trajectory.path
    ]
    return Solved(trajectory.query.strip(), path, tuple(taken(trajectory.query, calls) if len(calls) > 1 else ()))


@dataclass(frozen=True, slots=True)
class _Read:
    key: str
    content: Trajectory | RecordedCall


def _records(block: Block, counted: Counted) -> Iterator[_Read]:
    """The records of a block; broken ones go to ``counted.skipped``, and the time to its ``parse_seconds``."""
    if isinstance(block, LineBlock):
        counted.skipped.extend(block.skipped)
        for key, number, body in block.lines:
            yield from _read(counted, block.path, number, lambda key=key, body=body: _from_line(block, key, body))
    else:
        for path in block.paths:
            yield from _read(counted, path, None, lambda path=path: _from_file(path))


def _read(counted: Counted, file: str, line: int | None, read: Callable[[], _Read]) -> Iterator[_Read]:
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
    record = load(body)
    if block.kind == "calls":
        return _Read(key, jsonl.recorded_call(record))
    return _Read(key, _trajectory(record, Path(block.path).name.split(".")[0]))


def _trajectory(record: Record, source: str) -> Trajectory:
    """A line of trajectories, by its shape: a dialogue, a search tree, or the plain form."""
    if "turns" in record:
        return apibank.trajectory(record)
    if "tree" in record or "trys" in record:
        return trees.trajectory(record, source)
    return jsonl.trajectory(record, source)


def _from_file(path: str) -> _Read:
    body = read_capped(path)
    name = "/".join(path.rsplit("/", 2)[-2:])
    # The name already tells the records of a data set apart; size and checksum tell that a file was changed. A
    # cryptographic hash would take half as long as parsing the file.
    key = _digest(f"{name}\0{len(body)}\0{crc32(body)}".encode())
    if path.endswith(".jsonl"):
        return _Read(key, dialogues.trajectory(body, name))
    return _Read(key, trees.trajectory(load(body), name))


def _line_key(kind: Kind, body: bytes, seen: RepeatCounter) -> str:
    digest = sha256(kind.encode() + b"\0" + body).digest()[:16]
    before = seen.before(digest)
    return digest.hex() if not before else f"{digest.hex()}.{before}"


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()[:32]
