"""Shapes of a run's answers, kept for tools whose documents do not describe their responses."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from domain.event import CallFinished, EventRecord
from domain.plan import StepResult
from domain.tool import ToolId
from graph.answer_shapes import arguments_said, shape_of_answer
from graph.shapes import Shape

_MOST = 5
"""Answers of one tool that one run is learnt from."""


class LearnsAnswers(Protocol):
    """The part of a graph store that keeps the shapes of answers."""

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[Shape]]) -> set[ToolId]:
        """Add the shapes to the documents of the tools; return the tools whose documents changed."""
        ...


async def learn_answers(records: Iterable[EventRecord], store: LearnsAnswers) -> None:
    """Learn the shapes of a run's successful answers: names of fields and types."""
    seen = await asyncio.to_thread(_shapes, records)
    if seen:
        await store.learn_answers(seen)


def _shapes(records: Iterable[EventRecord]) -> dict[ToolId, list[Shape]]:
    """Return the shapes of successful answers by tool, a few of each."""
    seen: dict[ToolId, list[Shape]] = {}
    for result in _answered(records):
        if len(seen.get(result.tool, ())) < _MOST:
            shape = shape_of_answer(result.response, arguments_said(result.arguments.values()))
            if shape is not None:
                seen.setdefault(result.tool, []).append(shape)
    return seen


def _answered(records: Iterable[EventRecord]) -> Iterable[StepResult]:
    """Return the results of calls that were made and succeeded."""
    finished = (record.event.result for record in records if isinstance(record.event, CallFinished))
    return (result for result in finished if result.status == "ok" and result.attempts)
