"""Format of an export: encodes each kind of item as lines of canonical JSON, and decodes them.

Raise :data:`VERSION` when the meaning of a line changes. Documents leave out fields with default values, so a new field
of the model that has a default is no such change.
"""

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, cast, get_args

import orjson
from pydantic import ValidationError

from domain.memory import Memory
from domain.model import describe_errors
from domain.solution import Solution
from domain.tool import ToolDoc, ToolId
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.dataflow import FlowCount
from graph.evidence import estimate_evidence, estimate_live_evidence
from graph.facts import Edge, LiveOutcome, Mark, ToolFacts, ToolLesson
from graph.transfer.companion_stores import (
    CompanionItem,
    FlowKey,
    build_companion_sort_key,
    decode_companion,
    encode_companion,
)
from graph.transfer.line_fields import LineError, get_field, get_integer, get_number, get_text

FORMAT = "footpath-export"
VERSION = 6
READABLE_VERSIONS = (1, 2, 3, 4, 5, 6)
"""Versions that can be read.

Version 2 added marks and lessons, 3 memories and flows, 4 live evidence beside the counts, 5 programs within memories.
Version 6 keeps programs as solutions.
"""

SOLUTIONS_SINCE = 6
"""Version from which programs are kept as solutions."""


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """A node with its facts."""

    id: ToolId
    facts: ToolFacts


@dataclass(frozen=True, slots=True)
class AppliedKey:
    """The key of a batch, record or run that was applied."""

    key: str


@dataclass(frozen=True, slots=True)
class RecordedBatch:
    """Recorded calls that were added together: one line with their key and number, and one line for each call."""

    key: str
    calls: tuple[tuple[ToolId, RecordedCall], ...]


@dataclass(frozen=True, slots=True)
class LessonEntry:
    """The lesson of a run about a tool."""

    tool: ToolId
    lesson: ToolLesson


ExportItem = ToolDoc | NodeEntry | Edge | AppliedKey | LessonEntry | CompanionItem | RecordedBatch
SECTIONS: tuple[type[ExportItem], ...] = (
    ToolDoc,
    NodeEntry,
    Edge,
    AppliedKey,
    LessonEntry,
    Memory,
    Solution,
    FlowKey,
    FlowCount,
    RecordedBatch,
)
"""Kinds of items in the order of the file."""


@dataclass(slots=True)
class ExportCounts:
    """Number of items of each kind."""

    documents: int = 0
    nodes: int = 0
    edges: int = 0
    keys: int = 0
    lessons: int = 0
    memories: int = 0
    solutions: int = 0
    flow_keys: int = 0
    flows: int = 0
    batches: int = 0
    calls: int = 0
    """Recorded calls of all batches."""

    def add(self, item: ExportItem) -> None:
        """Count one more item."""
        match item:
            case ToolDoc():
                self.documents += 1
            case NodeEntry():
                self.nodes += 1
            case Edge():
                self.edges += 1
            case AppliedKey():
                self.keys += 1
            case LessonEntry():
                self.lessons += 1
            case Memory():
                self.memories += 1
            case Solution():
                self.solutions += 1
            case FlowKey():
                self.flow_keys += 1
            case FlowCount():
                self.flows += 1
            case RecordedBatch():
                self.batches += 1
                self.calls += len(item.calls)


def build_sort_key(item: ExportItem) -> tuple[str, ...]:
    """Return the key by which a section is sorted; empty for recorded batches, which stay in the order of arrival."""
    match item:
        case ToolDoc() | NodeEntry():
            return (item.id,)
        case Edge():
            return (item.source, item.target)
        case AppliedKey():
            return (item.key,)
        case LessonEntry():
            return (item.tool, item.lesson.moment, item.lesson.run)
        case Memory() | Solution() | FlowKey() | FlowCount():
            return build_companion_sort_key(item)
        case RecordedBatch():
            return ()


DIGEST_BYTES = 32
# By position, so the order of the fields of ToolFacts and RecordedCall is part of the format.
_COUNTS = tuple(field.name for field in fields(ToolFacts))[:5]
_SUMS = tuple(field.name for field in fields(ToolFacts))[5:]
_TEXTS = tuple(field.name for field in fields(RecordedCall))[:5]
_DOCUMENT = b'{"kind":"document","document":'
_SOLUTION = b'{"kind":"solution","solution":'
_get_facts = attrgetter(*(field.name for field in fields(ToolFacts)))


def encode_item(item: ExportItem) -> Iterable[bytes]:
    """Return the lines of an item, without their ends."""
    match item:
        case ToolDoc():
            # pydantic's own JSON keeps integers of any size, in the order of the model's fields.
            return (_DOCUMENT + item.model_dump_json(exclude_defaults=True).encode() + b"}",)
        case Solution():
            return (_SOLUTION + item.model_dump_json(exclude_defaults=True).encode() + b"}",)
        case NodeEntry():
            facts = _get_facts(item.facts)
            # Databases store -0.0 as 0.0. Adding zero does the same, so that equal stores give equal lines.
            scores = {name: value + 0.0 for name, value in zip(_SUMS, facts[len(_COUNTS) :], strict=True)}
            counts = dict(zip(_COUNTS, facts, strict=False))
            return (_encode_line("node", {"id": item.id, **counts, **scores}),)
        case Edge():
            counted = {"imported": item.imported, "live": item.live, "strength": item.strength + 0.0}
            marked = {"mark": item.mark} if item.mark else {}
            return (_encode_line("edge", {"source": item.source, "target": item.target, **counted, **marked}),)
        case AppliedKey():
            return (_encode_line("key", {"key": item.key}),)
        case LessonEntry(tool, lesson):
            lesson_fields = {"at": lesson.moment, "run": lesson.run, "score": lesson.score, "outcomes": lesson.outcomes}
            return (_encode_line("lesson", {"tool": tool, **lesson_fields}),)
        case Memory() | FlowKey() | FlowCount():
            return (_encode_line(*encode_companion(item)),)
        case RecordedBatch():
            return _encode_batch(item)


def _encode_batch(batch: RecordedBatch) -> Iterable[bytes]:
    """Yield the lines of a batch of recorded calls."""
    yield _encode_line("batch", {"key": batch.key, "calls": len(batch.calls)})
    for tool, call in batch.calls:
        *texts, outcome = astuple(call)
        row = dict(zip(_TEXTS, texts, strict=True))
        yield _encode_line("call", {"tool": tool, **row, "outcome": outcome.value})


def _encode_line(kind: str, content: dict[str, object]) -> bytes:
    """Encode one line of a kind."""
    return orjson.dumps({"kind": kind, **content})


def parse_line(line: bytes) -> dict[str, Any]:
    """Parse a line other than a document or solution as a JSON object with a ``kind``. Raises :class:`LineError`."""
    try:
        content: Any = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise LineError(f"no valid JSON ({error})") from error
    if not isinstance(content, dict) or "kind" not in content:
        raise LineError("no line of an export: it names no kind")
    return cast("dict[str, Any]", content)


def is_document(line: bytes) -> bool:
    """Return whether a line holds a document, which is parsed by :func:`decode_document`.

    :func:`parse_line` cannot: a document may hold integers beyond 64 bits, which orjson does not read.
    """
    return line.startswith(_DOCUMENT)


def is_solution(line: bytes) -> bool:
    """Return whether a line holds a solution, which is parsed by :func:`decode_solution`, as documents are."""
    return line.startswith(_SOLUTION)


def decode_document(line: bytes) -> ToolDoc:
    """Parse a document. Raises :class:`LineError`."""
    try:
        return ToolDoc.model_validate_json(line.removeprefix(_DOCUMENT).removesuffix(b"}"))
    except ValidationError as error:
        raise LineError(f"no document of a tool: {describe_errors(error)}") from error


def decode_solution(line: bytes) -> Solution:
    """Parse a solution. Raises :class:`LineError`."""
    try:
        return Solution.model_validate_json(line.removeprefix(_SOLUTION).removesuffix(b"}"))
    except ValidationError as error:
        raise LineError(f"no solution: {describe_errors(error)}") from error


def decode_item(content: dict[str, Any]) -> NodeEntry | Edge | AppliedKey | LessonEntry | CompanionItem:
    """Return the item of a parsed line of these kinds. Raises :class:`LineError`."""
    match content["kind"]:
        case "node":
            return NodeEntry(ToolId(get_text(content, "id")), _decode_facts(content))
        case "edge":
            ends = ToolId(get_text(content, "source")), ToolId(get_text(content, "target"))
            mark = content.get("mark")
            if mark not in (None, *get_args(Mark)):
                raise LineError(f"{mark!r} is no mark of an edge")
            live = get_integer(content, "live")
            strength = get_number(content, "strength") if "strength" in content else estimate_evidence(live)
            return Edge(*ends, get_integer(content, "imported"), live, mark, strength)
        case "key":
            return AppliedKey(get_text(content, "key"))
        case "lesson":
            return LessonEntry(ToolId(get_text(content, "tool")), _decode_lesson(content))
        case _:
            return decode_companion(content)


def _decode_facts(content: dict[str, Any]) -> ToolFacts:
    """Parse the facts of a node; those of an older version get the live evidence that their counts amount to."""
    counts = [get_integer(content, name) for name in _COUNTS]
    if "good" in content:
        return ToolFacts(*counts, *(get_number(content, name) for name in _SUMS))
    return estimate_live_evidence(
        ToolFacts(*counts, *(get_number(content, name) for name in _SUMS[:2])), datetime.now(UTC).timestamp()
    )


def _decode_lesson(content: dict[str, Any]) -> ToolLesson:
    """Parse a lesson."""
    score = None if content.get("score") is None else get_number(content, "score")
    outcomes = tuple(cast("list[LiveOutcome]", get_field(content, "outcomes", list)))
    if any(outcome not in get_args(LiveOutcome) for outcome in outcomes):
        raise LineError("outcomes of a lesson are ok, transient or gone")
    try:
        at = datetime.fromisoformat(get_text(content, "at"))
    except ValueError as error:
        raise LineError(str(error)) from error
    return ToolLesson(get_text(content, "run"), at, score, outcomes)


def decode_batch(content: dict[str, Any]) -> tuple[str, int]:
    """Return key and number of calls of a line of kind ``batch``. Raises :class:`LineError`."""
    return get_text(content, "key"), get_integer(content, "calls")


def decode_call(content: dict[str, Any]) -> tuple[ToolId, RecordedCall]:
    """Parse a recorded call. Raises :class:`LineError`."""
    if content["kind"] != "call":
        raise LineError("a recorded call of the batch above is missing")
    try:
        outcome = RecordedOutcome(get_text(content, "outcome"))
    except ValueError as error:
        raise LineError(str(error)) from error
    return ToolId(get_text(content, "tool")), RecordedCall(
        *(get_text(content, name) for name in _TEXTS), outcome=outcome
    )
