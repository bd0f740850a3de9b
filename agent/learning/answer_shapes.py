"""Learning of response shapes from a run's answers, for tools whose documents do not describe their responses."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from domain.event import CallFinished, EventRecord
from domain.plan import StepResult
from domain.tool import ToolId
from graph.answer_shapes import collect_scalars, infer_answer_shape
from graph.shapes import JsonShape

_MAX_ANSWERS = 5
"""Limit of answers of one tool that are examined per run."""


class AnswerShapeStore(Protocol):
    """The part of a graph store that keeps the shapes of answers."""

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[JsonShape]]) -> set[ToolId]:
        """Add the shapes to the documents of the tools; return the tools whose documents changed."""
        ...


async def learn_answers(records: Iterable[EventRecord], store: AnswerShapeStore) -> None:
    """Learn the shapes of a run's successful answers: names and types of fields, but no values."""
    seen = await asyncio.to_thread(_collect_shapes, records)
    if seen:
        await store.learn_answers(seen)


def _collect_shapes(records: Iterable[EventRecord]) -> dict[ToolId, list[JsonShape]]:
    """Return the shapes of successful answers by tool, a few of each."""
    shapes: dict[ToolId, list[JsonShape]] = {}
    for result in _find_successful_results(records):
        if len(shapes.get(result.tool, ())) < _MAX_ANSWERS:
            shape = infer_answer_shape(result.response, collect_scalars(result.arguments.values()))
            if shape is not None:
                shapes.setdefault(result.tool, []).append(shape)
    return shapes


def _find_successful_results(records: Iterable[EventRecord]) -> Iterable[StepResult]:
    """Return the results of calls that were made and succeeded."""
    finished = (record.event.result for record in records if isinstance(record.event, CallFinished))
    return (result for result in finished if result.status == "ok" and result.attempts)
