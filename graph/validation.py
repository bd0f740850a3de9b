"""Validation of what is written to a graph store, shared by all back ends so that they refuse the same."""

import math
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import get_args

from domain.errors import UsageError
from domain.tool import FINISH, ToolDoc, ToolId, is_unresolved
from graph.facts import GraphBatch, GraphState, LiveBatch, Mark

_MAX_COUNT = 2**63 - 1
"""The largest count that every back end can store."""


def check_documents(tools: Sequence[ToolDoc]) -> None:
    """Raise ``UsageError`` for a document whose id is ``FINISH`` or that of an unresolved name."""
    for tool in tools:
        if tool.id == FINISH or is_unresolved(tool.id):
            raise UsageError(f"{tool.id!r} cannot have a document: make ids of documents with tool_id()")


def check_batch(batch: GraphBatch) -> None:
    """Raise ``UsageError`` for a batch without a key, with impossible counts, or with edges out of ``FINISH``."""
    _check_key(batch.key)
    for (source, target), count in batch.transitions.items():
        _check_transition(source, target, count)
    for tool, count in batch.calls.items():
        if count < 0:
            raise UsageError(f"{count} calls of {tool!r}: a count cannot be negative")
    for tool, count in batch.successes.items():
        if not 0 <= count <= batch.calls[tool]:
            raise UsageError(
                f"{count} successes among {batch.calls[tool]} calls of {tool!r}: count each success as a call"
            )


def check_live_batch(batch: LiveBatch) -> None:
    """Raise ``UsageError`` for a run with invalid evidence.

    Invalid are an empty key, a time without a zone, a decay γ outside (0, 1], a half-life that is not positive and
    finite, impossible transitions, a score Δ outside [-1, 1], and an outcome of ``FINISH``, which cannot be called.
    """
    _check_key(batch.key)
    _check_moment(batch.at)
    if not 0 < batch.decay <= 1:
        raise UsageError(f"decay {batch.decay}: γ must be above 0 and at most 1")
    if not 0 < batch.half_life < math.inf:
        raise UsageError(f"half-life {batch.half_life}: must be positive and finite")
    for (source, target), count in batch.transitions.items():
        _check_transition(source, target, count)
    for tool, score in batch.scores:
        if math.isnan(score) or not -1 <= score <= 1:
            raise UsageError(f"score {score} of {tool!r}: scores lie in [-1, 1]")
    if any(tool == FINISH for tool, _ in batch.outcomes):
        raise UsageError("Finish cannot be called: leave it out of the outcomes")


def check_state(state: GraphState) -> None:
    """Raise ``UsageError`` for content that no sequence of batches and runs could have produced."""
    for tool, facts in state.nodes.items():
        counts = (facts.calls, facts.successes, facts.ok, facts.transient, facts.gone)
        if not all(0 <= count <= _MAX_COUNT for count in counts) or facts.successes > facts.calls:
            raise UsageError(f"facts of {tool!r}: counts cannot be negative, nor successes more than calls")
        if not (math.isfinite(facts.quality) and math.isfinite(facts.reliability)):
            raise UsageError(f"facts of {tool!r}: quality and reliability must be finite numbers")
        if not all(0 <= one < math.inf for one in (facts.good, facts.bad, facts.trouble, facts.heard)):
            raise UsageError(f"facts of {tool!r}: live evidence and its moment must be finite and cannot be negative")
    for edge in state.edges:
        _check_transition(edge.source, edge.target, min(edge.imported, edge.live))
        # A bool is 0 or 1: without a mark there must be at least one walk.
        if not (edge.mark is None) <= edge.imported + edge.live <= _MAX_COUNT:
            raise UsageError(f"{edge.source!r} -> {edge.target!r}: an edge without a mark was walked at least once")
        if not 0 <= edge.strength < math.inf:
            raise UsageError(f"{edge.source!r} -> {edge.target!r}: a strength must be finite and cannot be negative")
    for key in state.keys:
        _check_key(key)
    for tool, lesson in state.lessons:
        _check_key(lesson.run)
        _check_moment(lesson.at)
        if tool == FINISH or not (lesson.score is None or -1 <= lesson.score <= 1):
            raise UsageError(
                f"score {lesson.score} of {tool!r}: scores lie in [-1, 1], and nothing is learnt about Finish"
            )


def check_mark(source: ToolId, target: ToolId, mark: Mark | None, nodes: Collection[ToolId]) -> None:
    """Raise ``UsageError`` for an unknown mark, an end that is not in ``nodes``, or an edge out of ``FINISH``."""
    check_mark_name(mark)
    for end in (source, target):
        if end not in nodes:
            raise UsageError(
                f"{end!r} is no node of this graph: give the ids of two tools as scripts/show_tool.py shows them"
            )
    _check_transition(source, target, 0)


def check_mark_name(mark: Mark | None) -> None:
    """Raise ``UsageError`` for an unknown mark."""
    if mark is not None and mark not in get_args(Mark):
        raise UsageError(f"{mark!r} is no mark: an edge can be marked {', '.join(get_args(Mark))}")


def _check_moment(at: datetime) -> None:
    if at.tzinfo is None:
        raise UsageError(f"{at}: a moment needs its time zone")


def _check_key(key: str) -> None:
    if not key:
        raise UsageError("a batch needs a key: the hash of its source, or the id of its run")


def _check_transition(source: ToolId, target: ToolId, count: int) -> None:
    if count < 0:
        raise UsageError(f"{count} transitions {source!r} -> {target!r}: a count cannot be negative")
    if source == FINISH:
        raise UsageError(f"{source!r} -> {target!r}: Finish has no successors")
