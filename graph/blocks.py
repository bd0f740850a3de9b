"""Blocks: the picklable pieces of a source that are counted, possibly in other processes, and applied one by one.

Every record has a key, and the batch of a block lists the keys of its records. So a source that was imported before, in
whole or in part and in any order, adds only what is new. The key is made of:

- for a line: its bytes, and how often the same line occurred before in its file (a file may repeat a line; the same
  line of two files is one record);
- for a file of a folder: its group's and its own name, its size and its checksum.
"""

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain, islice
from pathlib import Path
from time import perf_counter
from typing import Literal
from zlib import crc32

from domain.tool import ToolId, is_unresolved
from domain.trajectory import RecordedCall, RecordedOutcome, SolvedRequest, Trajectory, TrajectoryCall
from graph.answer_shapes import collect_scalars, infer_answer_shape
from graph.counting import ImportTally, count_recorded_call, count_trajectory
from graph.dataflow import ObservedCall, find_taken_arguments
from graph.facts import GraphBatch
from graph.function_names import NameIndex
from graph.importers import apibank, apibank_dialogues, jsonl, toolbench_trees
from graph.importers.lines import JsonlLine, read_lines
from graph.importers.records import Record, RecordError, SkippedInput, load, read_capped
from graph.lenient_json import read_value
from graph.shapes import JsonShape

_SMALLEST = 1 << 12


class RepeatCounter:
    """Counts digests in an open-addressing table of 64-bit values; only repeated digests get a dictionary entry.

    Two of a billion different lines share 64 bits with a probability of 3 %; two of a million with one of 10⁻⁸.
    """

    def __init__(self) -> None:
        self._slots = _make_table(_SMALLEST)
        self._used = 0
        self._repeated: dict[int, int] = {}

    def count_earlier(self, digest: bytes) -> int:
        """Add a digest (eight bytes or more) and return how often it was added before."""
        value = int.from_bytes(digest[:8]) or 1  # 0 marks a free slot
        slot = _find_slot(self._slots, value)
        if self._slots[slot]:
            self._repeated[value] = seen = self._repeated.get(value, 0) + 1
            return seen
        self._slots[slot] = value
        self._used += 1
        if self._used * 2 > len(self._slots):
            self._grow()
        return 0

    def _grow(self) -> None:
        """Double the table and insert all values again."""
        larger = _make_table(len(self._slots) * 2)
        for value in self._slots:
            if value:
                larger[_find_slot(larger, value)] = value
        self._slots = larger


def _make_table(size: int) -> "array[int]":
    return array("Q", bytes(8 * size))


def _find_slot(slots: "array[int]", value: int) -> int:
    """Return the slot of ``value``, or the free slot where it belongs.

    The length of ``slots`` is a power of two, and at least half of it is free, so the probe always ends.
    """
    mask = len(slots) - 1
    slot = value & mask
    while slots[slot] not in (0, value):
        slot = (slot + 1) & mask
    return slot


RecordKind = Literal["trajectories", "calls"]
FILES_A_BLOCK = 256
LINES_A_BLOCK = 1_000
BYTES_A_BLOCK = 4 << 20
ANSWERS_A_TOOL = 3
"""Maximum number of answers of one tool that are learnt from in a block."""


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines of one file."""

    path: str
    kind: RecordKind
    lines: tuple[tuple[str, int, bytes], ...]
    """Key, line number and bytes of each line."""
    skipped: tuple[SkippedInput, ...]
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
class CountedBlock:
    """Result of counting a block."""

    batch: GraphBatch
    """Counts of the new records only."""
    tally: ImportTally = field(default_factory=ImportTally)
    """Counts of all records, new or not."""
    skipped: list[SkippedInput] = field(default_factory=list[SkippedInput])
    recorded_calls: list[tuple[ToolId, RecordedCall]] = field(default_factory=list[tuple[ToolId, RecordedCall]])
    """New recorded calls whose tool is known."""
    solved_requests: list[SolvedRequest] = field(default_factory=list[SolvedRequest])
    """Requests of new, accepted trajectories on whose path every tool has a document."""
    answer_shapes: dict[ToolId, list[JsonShape]] = field(default_factory=dict[ToolId, list[JsonShape]])
    """Shapes of the first new answers of each tool."""
    parse_seconds: float = 0.0
    count_seconds: float = 0.0


def read_line_blocks(path: Path, kind: RecordKind) -> Iterator[LineBlock]:
    """Yield the blocks of a JSONL file, cut by number of lines and size."""
    repeats, start = RepeatCounter(), 0
    lines: list[tuple[str, int, bytes]] = []
    skipped: list[SkippedInput] = []
    size = position = 0
    for line in read_lines(path):
        if isinstance(line, JsonlLine):
            lines.append((_compute_line_key(kind, line.body, repeats), line.number, line.body))
            size, position = size + len(line.body), line.position
        else:
            skipped.append(line)
        if len(lines) >= LINES_A_BLOCK or size >= BYTES_A_BLOCK:
            yield LineBlock(str(path), kind, tuple(lines), tuple(skipped), position - start)
            lines, skipped, size, start = [], [], 0, position
    if lines or skipped:
        yield LineBlock(str(path), kind, tuple(lines), tuple(skipped), position - start)


def list_file_blocks(path: Path) -> Iterator[FileBlock]:
    """Yield the blocks of a folder of search trees or dialogues, or of one such file."""
    files = (
        chain(toolbench_trees.find_tree_files(path), apibank_dialogues.find_dialogue_files(path))
        if path.is_dir()
        else iter((path,))
    )
    while paths := tuple(str(file) for file in islice(files, FILES_A_BLOCK)):
        yield FileBlock(paths, len(paths))


def count_block(block: Block, names: NameIndex, applied_keys: frozenset[str] = frozenset()) -> CountedBlock:
    """Read and count a block. Records whose key is in ``applied_keys`` are tallied but left out of the batch.

    A record that cannot be read has no key, so it is tried again when its source is imported again.
    """
    counted = CountedBlock(GraphBatch(key=""))
    tallied_only = GraphBatch(key="")
    for record in _read_records(block, counted):
        start = perf_counter()
        is_new = record.key not in applied_keys and record.key not in counted.batch.records
        batch = counted.batch if is_new else tallied_only
        if is_new:
            batch.records.add(record.key)
        if isinstance(record.content, Trajectory):
            path = count_trajectory(batch, counted.tally, record.content, names)
            if is_new:
                _learn_answer_shapes(counted.answer_shapes, record.content.attempts, names)
            if is_new and path and record.content.query.strip() and not any(map(is_unresolved, path)):
                counted.solved_requests.append(_build_solved(record.content, path, names))
        else:
            tool = count_recorded_call(batch, counted.tally, record.content, names)
            if tool is not None and is_new:
                counted.recorded_calls.append((tool, record.content))
                if record.content.outcome is RecordedOutcome.OK:
                    _learn_answer_shape(counted.answer_shapes, tool, record.content.response, record.content.arguments)
        counted.count_seconds += perf_counter() - start
    counted.batch.key = "import:" + _compute_digest("\n".join(sorted(counted.batch.records)).encode())
    return counted


def _learn_answer_shapes(
    answers: dict[ToolId, list[JsonShape]], calls: Sequence[TrajectoryCall], names: NameIndex
) -> None:
    """Learn the shapes of the successful answers of a trajectory's calls."""
    for call in calls:
        if call.outcome is RecordedOutcome.OK and call.observation:
            name = names.resolve(call.function, call.category, call.toolset)
            if name.resolved:
                _learn_answer_shape(answers, name.id, call.observation, call.arguments or "")


def _learn_answer_shape(answers: dict[ToolId, list[JsonShape]], tool: ToolId, answer: str, arguments: str) -> None:
    """Learn the shape of one answer, unless enough of the tool's answers are known."""
    if len(answers.get(tool, ())) < ANSWERS_A_TOOL:
        parsed_arguments = read_value(arguments)
        shape = infer_answer_shape(
            answer, collect_scalars(parsed_arguments.values()) if isinstance(parsed_arguments, dict) else ()
        )
        if shape is not None:
            answers.setdefault(tool, []).append(shape)


def _build_solved(trajectory: Trajectory, path: tuple[ToolId, ...], names: NameIndex) -> SolvedRequest:
    """Return the solved request of a trajectory, with the arguments that its calls took from earlier answers."""
    calls = [
        ObservedCall(
            names.resolve(call.function, call.category, call.toolset).id, call.outcome, call.arguments, call.observation
        )
        for call in trajectory.path
    ]
    return SolvedRequest(
        trajectory.query.strip(), path, tuple(find_taken_arguments(trajectory.query, calls) if len(calls) > 1 else ())
    )


@dataclass(frozen=True, slots=True)
class _BlockRecord:
    """A record that was read, with its key."""

    key: str
    content: Trajectory | RecordedCall


def _read_records(block: Block, counted: CountedBlock) -> Iterator[_BlockRecord]:
    """Yield the records of a block; broken ones go to ``counted.skipped``, seconds to ``counted.parse_seconds``."""
    if isinstance(block, LineBlock):
        counted.skipped.extend(block.skipped)
        for key, number, body in block.lines:
            yield from _read_record(
                counted, block.path, number, lambda key=key, body=body: _parse_line(block, key, body)
            )
    else:
        for path in block.paths:
            yield from _read_record(counted, path, None, lambda path=path: _parse_file(path))


def _read_record(
    counted: CountedBlock, file: str, line: int | None, read: Callable[[], _BlockRecord]
) -> Iterator[_BlockRecord]:
    """Yield the record that ``read`` returns, or nothing if it cannot be read."""
    start = perf_counter()
    try:
        record = read()
    except (RecordError, OSError) as error:
        reason = str(error) if isinstance(error, RecordError) else f"cannot be read: {error.strerror}"
        counted.skipped.append(SkippedInput(file, line, reason))
        return
    finally:
        counted.parse_seconds += perf_counter() - start
    yield record


def _parse_line(block: LineBlock, key: str, body: bytes) -> _BlockRecord:
    """Parse one line of a JSONL file."""
    record = load(body)
    if block.kind == "calls":
        return _BlockRecord(key, jsonl.parse_recorded_call(record))
    return _BlockRecord(key, _parse_trajectory(record, Path(block.path).name.split(".")[0]))


def _parse_trajectory(record: Record, source: str) -> Trajectory:
    """Parse a line of trajectories by its shape: a dialogue, a search tree, or the plain form."""
    if "turns" in record:
        return apibank.parse_trajectory(record)
    if "tree" in record or "trys" in record:
        return toolbench_trees.parse_trajectory(record, source)
    return jsonl.parse_trajectory(record, source)


def _parse_file(path: str) -> _BlockRecord:
    """Parse one file of a folder."""
    body = read_capped(path)
    name = "/".join(path.rsplit("/", 2)[-2:])
    # The name already tells the records of a data set apart; size and checksum tell that a file was changed. A
    # cryptographic hash would take half as long as parsing the file.
    key = _compute_digest(f"{name}\0{len(body)}\0{crc32(body)}".encode())
    if path.endswith(".jsonl"):
        return _BlockRecord(key, apibank_dialogues.parse_dialogue_file(body, name))
    return _BlockRecord(key, toolbench_trees.parse_trajectory(load(body), name))


def _compute_line_key(kind: RecordKind, body: bytes, repeats: RepeatCounter) -> str:
    """Return a line's key: the hash of its kind and bytes, with a counter if the same line stood above it."""
    digest = sha256(kind.encode() + b"\0" + body).digest()[:16]
    earlier_count = repeats.count_earlier(digest)
    return digest.hex() if not earlier_count else f"{digest.hex()}.{earlier_count}"


def _compute_digest(content: bytes) -> str:
    """Return the first 32 hexadecimal digits of a SHA-256."""
    return sha256(content).hexdigest()[:32]
