"""Data flow between recorded calls: which arguments came from which fields of earlier answers (SoAy, definition 1).

An argument counts as taken from an earlier answer of the same trajectory if that answer contains its value.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson
from pydantic.types import JsonValue

from domain.tool import Flow, ToolDoc, ToolId
from domain.trajectory import RecordedOutcome, TakenValue

_MAX_LEAVES = 2_000
"""Scalars of one answer that are searched."""
_MAX_TEXT = 200_000
"""Characters of a longer text are not parsed."""
_MIN_LENGTH = 2
"""Minimum characters of a value. Shorter ones occur anywhere by chance."""
_MAX_DEPTH = 8


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """A call that was made. Arguments and answer are texts that should be JSON, but may be anything."""

    tool: ToolId
    outcome: RecordedOutcome
    arguments: str | None
    observation: str | None


@dataclass(frozen=True, slots=True)
class KnownFlow:
    """Count of the times that ``parameter`` of ``target`` was taken from ``field`` of ``source``'s answers."""

    source: ToolId
    target: ToolId
    field: str
    parameter: str
    count: int
    total: int
    """Count of the times that it was taken from any field of ``source``'s answers."""


@dataclass(frozen=True, slots=True)
class FlowCount:
    """Count of the times that ``parameter`` of ``target`` was taken from ``source``, in total and by field."""

    target: ToolId
    parameter: str
    source: ToolId
    total: int
    fields: tuple[tuple[str, int], ...]
    """Name and count of each field."""

    @property
    def sort_key(self) -> tuple[str, str, str]:
        """Key by which counts are sorted."""
        return self.target, self.parameter, self.source


class FlowStore(Protocol):
    """Store of how often calls took arguments from earlier answers. All methods may raise ``UnavailableError``."""

    async def setup(self) -> None:
        """Create what is missing; idempotent."""
        ...

    async def add(self, key: str, taken: Sequence[TakenValue]) -> bool:
        """Count ``taken`` once per key. Returns False if the key was counted before."""
        ...

    async def forget(self, tools: Iterable[ToolId]) -> None:
        """Delete the flows out of and into these tools. The keys stay, so that nothing is counted again."""
        ...

    async def find_flows_into(self, tools: Iterable[ToolId]) -> dict[ToolId, list[KnownFlow]]:
        """Return the flows into the parameters of these tools, most frequent first."""
        ...

    async def list_keys(self, after: str, limit: int) -> list[str]:
        """Return a page of the counted keys in order, starting after ``after``, or with the first if that is empty."""
        ...

    async def list_counts(self, after: tuple[str, str, str], limit: int) -> list[FlowCount]:
        """Return a page of the counts in the order of :attr:`FlowCount.sort_key`, starting after ``after``.

        Three empty texts start with the first.
        """
        ...

    async def restore(self, keys: Sequence[str], counts: Sequence[FlowCount]) -> None:
        """Set keys and counts as another store held them; idempotent."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...


def find_taken_arguments(request: str, calls: Sequence[ObservedCall]) -> list[TakenValue]:
    """Return what each successful call took from the nearest earlier answer that held the value.

    Values that the request itself contains do not count as taken.
    """
    taken_arguments: list[TakenValue] = []
    answers: list[tuple[ToolId, dict[str, list[str]]]] = []
    lowered_request = request.casefold()
    request_words = set(re.findall(r"[\w.-]+", lowered_request))
    for call in calls:
        if call.outcome is not RecordedOutcome.OK:
            continue
        for parameter, value in _parse_mapping(call.arguments).items():
            comparable = _to_comparable(value)
            if (
                comparable is None
                or comparable in request_words
                or (" " in comparable and comparable in lowered_request)
            ):
                continue
            source = next((answer for answer in reversed(answers) if comparable in answer[1]), None)
            if source is not None and source[0] != call.tool:
                taken_arguments.append(
                    TakenValue(source[0], call.tool, parameter, tuple(dict.fromkeys(source[1][comparable])))
                )
        answers.append((call.tool, _collect_leaves(call.observation)))
    return taken_arguments


def add_flows(tool: ToolDoc, flows: Sequence[KnownFlow]) -> ToolDoc:
    """Return the document with the known sources of its arguments."""
    if not flows:
        return tool
    by_parameter: dict[str, list[Flow]] = {}
    for flow in flows:
        parameter_flow = Flow(source=flow.source, field=flow.field, share=flow.count / flow.total, count=flow.count)
        by_parameter.setdefault(flow.parameter, []).append(parameter_flow)
    parameters = tuple(
        parameter.model_copy(update={"flows": tuple(by_parameter.get(parameter.name, ()))})
        for parameter in tool.parameters
    )
    return tool.model_copy(update={"parameters": parameters})


def _to_comparable(value: JsonValue) -> str | None:
    """Return a value as normalised text for comparison.

    Returns None for booleans, lists, objects and single characters, whose repetition proves nothing.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    text = f"{value:.10g}" if isinstance(value, float) else str(value).strip().casefold()
    return text if len(text) >= _MIN_LENGTH else None


def _parse_mapping(text: str | None) -> dict[str, JsonValue]:
    """Parse a JSON object; empty if the text is none."""
    value = _parse_json(text)
    return value if isinstance(value, dict) else {}


def _collect_leaves(text: str | None) -> dict[str, list[str]]:
    """Return the scalars of an answer in comparable form, each with the paths of the fields that hold it."""
    value = _parse_json(text)
    if isinstance(value, dict) and "error" in value and isinstance(value.get("response"), str):
        value = _parse_json(value["response"])  # how ToolBench's server wrapped an answer
    paths_by_value: dict[str, list[str]] = {}
    for count, (path, leaf) in enumerate(_walk_leaves(value, "", 0)):
        if count >= _MAX_LEAVES:
            break
        comparable = _to_comparable(leaf)
        if comparable is not None:
            paths_by_value.setdefault(comparable, []).append(path)
    return paths_by_value


def _walk_leaves(value: JsonValue, path: str, depth: int) -> Iterator[tuple[str, JsonValue]]:
    """Yield path and value of each scalar, down to the maximum depth."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _walk_leaves(item, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _walk_leaves(item, f"{path}[]", depth + 1)
    else:
        yield path, value


def _parse_json(text: object) -> JsonValue:
    """Parse a JSON text; None if it is broken, as answers cut by their recorder are."""
    if not isinstance(text, str) or len(text) > _MAX_TEXT or text[:1] not in ("{", "["):
        return None
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
