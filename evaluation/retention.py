"""Retention under compression: expected values that responses hold before and after it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic.types import JsonValue

from agent.compression.field_selection import FieldChoices
from agent.compression.response_compression import COMPRESSION_LIMIT, compress_response
from agent.execution.executor import Executor
from agent.policy.protocol import Policy
from domain.errors import UsageError
from domain.tool import ToolDoc
from evaluation.correctness import find_absent_from_responses
from evaluation.evaluation_cases import EvaluationCase, ExpectedValues
from graph.lenient_json import read_value

Figures = dict[str, Any]
_PLACE = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


@dataclass(slots=True)
class RetentionResult:
    """Counts over the responses of an evaluation."""

    responses: int = 0
    compressed: int = 0
    values: int = 0
    """Expected values that responses held before they were compressed."""
    lost: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Expected values that a response no longer held once it was compressed, by request."""
    unseen: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Expected values that no response of the request shows any more, by request."""
    failed: dict[str, str] = field(default_factory=dict[str, str])
    """Reason of the failed call that ended a request."""

    def to_figures(self) -> Figures:
        """Return the figures; ``share`` is that of the values still in compressed responses, None if there was none."""
        lost = sum(map(len, self.lost.values()))
        return {
            "responses": self.responses,
            "compressed": self.compressed,
            "values": self.values,
            "retained": self.values - lost,
            "share": (self.values - lost) / self.values if self.values else None,
            "lost": self.lost,
            "unseen": self.unseen,
            "failed": self.failed,
        }


async def evaluate_retention(
    cases: Sequence[EvaluationCase],
    tools: Mapping[str, ToolDoc],
    executor: Executor,
    policy: Policy,
    choices: FieldChoices,
    limit: int = COMPRESSION_LIMIT,
) -> RetentionResult:
    """Make the calls that lead to each answer, and compare the responses with their compressed form.

    ``tools`` by operation. A failed call ends its request, which is listed with the reason.
    """
    retention = RetentionResult()
    for case in cases:
        responses: list[str] = []
        shown_texts: list[str] = []
        for call in case.calls:
            tool = tools.get(call.operation)
            if tool is None:
                raise UsageError(f"{case.id}: no tool of the store is called {call.operation!r}; build the store anew")
            arguments = {name: _fill_argument(value, responses) for name, value in call.arguments.items()}
            result = await executor.call(tool, arguments)
            if result.outcome != "ok":
                retention.failed[case.id] = f"{call.operation}: {result.note or result.http_status or result.outcome}"
                break
            responses.append(result.body)
            retention.responses += 1
            short = await compress_response(tool, result.body, policy, choices, limit)
            shown_texts.append(short.text if short else result.body)
            if short:
                retention.compressed += 1
                _compare(retention, case, result.body, short.text)
        lost = set(find_absent_from_responses(case.expect, shown_texts)) - set(
            find_absent_from_responses(case.expect, responses)
        )
        if lost:
            retention.unseen[case.id] = sorted(lost)
    return retention


def _compare(retention: RetentionResult, case: EvaluationCase, before: str, after: str) -> None:
    for value in _split_values(case.expect):
        if not find_absent_from_responses(value, [before]):
            retention.values += 1
            if lost := find_absent_from_responses(value, [after]):
                retention.lost.setdefault(case.id, []).extend(lost)


def _split_values(expect: ExpectedValues) -> list[ExpectedValues]:
    """Return each expected value by itself."""
    numbers = [ExpectedValues(numbers=(number,), tolerance=expect.tolerance) for number in expect.numbers]
    return numbers + [ExpectedValues(texts=(texts,)) for texts in expect.texts]


def _fill_argument(value: JsonValue, responses: Sequence[str]) -> JsonValue:
    """Return a literal as it is, or the field that ``{"from": "1.items[0].id"}`` names."""
    reference = value.get("from") if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(reference, str):
        return value
    step, _, place = reference.partition(".")
    node: JsonValue = read_value(responses[int(step) - 1])
    for index, key in _PLACE.findall(place):
        node = _get_inner(node, index, key)
    return node


def _get_inner(node: JsonValue, index: str, key: str) -> JsonValue:
    if index:
        return node[int(index)] if isinstance(node, list) and int(index) < len(node) else None
    return node.get(key) if isinstance(node, dict) else None
