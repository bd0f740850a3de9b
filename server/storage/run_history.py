"""History of runs, which users search, and the durations and failures that administrators see."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Select, func, select

from domain.event import CallFinished, EventRecord, InputNeeded, RunOutcome, Verdict
from domain.usage import Usage
from server.storage.repository import Repository, StoredModel
from server.storage.rows.runs import ConversationRow, EventRow, MessageRow, RunRow, RunToolRow
from server.storage.runs import ListedRun, RunStatus

_MAX_TOOLS = 200
Refusal = Literal["call", "plan"]


class PastRun(ListedRun):
    """A run as the history lists it."""

    conversation_title: str
    calls: int | None
    """How many calls it has really made; null while it has not ended."""
    refused: Refusal | None = None
    """The part that its user did not allow, where the run ended for that; null also once its events are removed."""


class RunFilter(StoredModel):
    """Criteria for runs; one that is empty or None matches everything."""

    search: str = ""
    """Text in the request or the answer, ignoring case."""
    status: RunStatus | None = None
    outcome: RunOutcome | None = None
    planner: str = ""
    policy: str = ""
    model: str = ""
    tool: str = ""
    verdict: Verdict | Literal["none"] | None = None
    """``none`` finds runs without a verdict."""
    since: datetime | None = None
    until: datetime | None = None
    conversation_id: str = ""


class ToolUse(StoredModel):
    """A tool, and how many runs have called it."""

    tool: str
    runs: int


_LISTED_COLUMNS = [getattr(RunRow, name) for name in ListedRun.model_fields]
_CALL_COUNT = (
    select(func.coalesce(func.sum(RunToolRow.calls), 0))
    .where(RunToolRow.run_id == RunRow.id)
    .correlate(RunRow)
    .scalar_subquery()
)
_CALL_EVENTS = ("call.started", "call.finished")
_MAY_BE_SKIPPED_CALL = (EventRow.kind == "call.finished") & EventRow.body.contains('"status":"skipped"')
_MAY_ASK_FOR_PLAN = (EventRow.kind == "input.needed") & EventRow.body.contains('"asks":"plan"')
"""Cheap conditions that find the events which may be meant, before their bodies are parsed."""


class RunHistory(Repository):
    """Searches the runs of a user over all conversations."""

    async def list_page(self, user_id: str, criteria: RunFilter, before: str = "", limit: int = 50) -> list[PastRun]:
        """List runs, the latest first, starting before the id ``before``."""
        statement = select(
            *_LISTED_COLUMNS, ConversationRow.title.label("conversation_title"), _CALL_COUNT.label("calls")
        )
        statement = statement.join(ConversationRow, ConversationRow.id == RunRow.conversation_id)
        statement = _apply_filter(statement.where(RunRow.user_id == user_id), criteria)
        if before:
            statement = statement.where(RunRow.id < before)
        latest = statement.order_by(RunRow.id.desc()).limit(limit)
        rows = await self._database.read(lambda session: session.execute(latest).mappings().all())
        runs = [_to_past_run({**row}) for row in rows]
        refused = await self._find_refusals([run.id for run in runs if run.outcome == "gave_up"])
        return [run.model_copy(update={"refused": refused.get(run.id)}) for run in runs]

    async def _find_refusals(self, runs: Sequence[str]) -> dict[str, Refusal]:
        """Return what was not allowed in the runs among these that gave up for it.

        A plan is asked about before anything is called, so a run that made calls did not end at its plan.
        """
        if not runs:
            return {}
        of_runs = select(EventRow.run_id, EventRow.body).where(EventRow.run_id.in_(runs))
        candidates = of_runs.where(_MAY_BE_SKIPPED_CALL | _MAY_ASK_FOR_PLAN)
        calls = select(EventRow.run_id).where(EventRow.run_id.in_(runs), EventRow.kind.in_(_CALL_EVENTS)).distinct()
        rows = await self._database.read(lambda session: session.execute(candidates).all())
        called = set(await self._database.read(lambda session: session.scalars(calls).all()))
        events = [(run, EventRecord.model_validate_json(body).event) for run, body in rows]
        plans = {run for run, event in events if isinstance(event, InputNeeded) and event.asks == "plan"}
        skips = {run for run, event in events if isinstance(event, CallFinished) and event.result.status == "skipped"}
        refusals: dict[str, Refusal] = dict.fromkeys(plans - called, "plan")
        return {**refusals, **dict.fromkeys(skips, "call")}

    async def list_tools(self, user_id: str) -> list[ToolUse]:
        """List the tools that a user's runs have called, the ones with most runs first."""
        runs = func.count()
        statement = select(RunToolRow.tool, runs).join(RunRow, RunRow.id == RunToolRow.run_id)
        statement = statement.where(RunRow.user_id == user_id).group_by(RunToolRow.tool)
        most_used = statement.order_by(runs.desc(), RunToolRow.tool).limit(_MAX_TOOLS)
        rows = await self._database.read(lambda session: session.execute(most_used).all())
        return [ToolUse(tool=tool, runs=count) for tool, count in rows]


def _apply_filter(statement: Select[*tuple[Any, ...]], criteria: RunFilter) -> Select[*tuple[Any, ...]]:
    exact = criteria.model_dump(include={"status", "outcome", "planner", "policy", "model", "conversation_id"})
    statement = statement.where(*(getattr(RunRow, name) == value for name, value in exact.items() if value))
    if words := criteria.search.casefold().strip():
        mentions = (MessageRow.run_id == RunRow.id) & MessageRow.text_key.contains(words, autoescape=True)
        statement = statement.where(select(MessageRow.id).where(mentions).exists())
    if criteria.tool:
        calls_tool = (RunToolRow.run_id == RunRow.id) & (RunToolRow.tool == criteria.tool)
        statement = statement.where(select(RunToolRow.run_id).where(calls_tool).exists())
    if criteria.verdict:
        statement = statement.where(RunRow.verdict == (None if criteria.verdict == "none" else criteria.verdict))
    if criteria.since:
        statement = statement.where(RunRow.created_at >= criteria.since)
    if criteria.until:
        statement = statement.where(RunRow.created_at < criteria.until)
    return statement


def _to_past_run(row: dict[str, Any]) -> PastRun:
    return PastRun.model_validate(row if row["status"] == "finished" else {**row, "calls": None})


MAX_MEASURED = 5_000
"""Runs, or calls, that are measured: the latest ones."""
_MAX_FIGURES = 50
_MAX_EVENT_LENGTH = 100_000
"""Characters of an event. Longer ones are left out, since parsing all of them would block the server."""
_FAILED_OUTCOMES = ("failed", "gave_up", "budget")


class Figure(StoredModel):
    """Figures of one planner or tool."""

    name: str
    count: int
    failed: int
    median: float
    """Seconds within which half of them ended."""
    p95: float
    """Seconds within which 95 of 100 ended."""


class RunPerformance(Repository):
    """Measures how long runs and calls took, and how many failed."""

    async def measure_planners(self, days: int) -> list[Figure]:
        """Measure runs that have ended by planner and policy, without those that their users cancelled."""
        since = self._clock() - timedelta(days=days)
        has_ended = (RunRow.status == "finished") & (RunRow.finished_at >= since) & (RunRow.outcome != "cancelled")
        statement = select(RunRow.planner, RunRow.policy, RunRow.outcome, RunRow.usage).where(has_ended)
        statement = statement.order_by(RunRow.finished_at.desc()).limit(MAX_MEASURED)
        rows = await self._database.read(lambda session: list(session.execute(statement)))
        return summarize_durations(
            (f"{planner} ({policy})", outcome in _FAILED_OUTCOMES, Usage.model_validate(usage or {}).total_seconds)
            for planner, policy, outcome, usage in rows
        )

    async def measure_tools(self, days: int) -> list[Figure]:
        """Measure the calls of runs that have ended, by tool."""
        since = self._clock() - timedelta(days=days)
        statement = select(EventRow.body).join(RunRow, RunRow.id == EventRow.run_id).where(RunRow.finished_at >= since)
        statement = statement.where(EventRow.kind == "call.finished", func.length(EventRow.body) < _MAX_EVENT_LENGTH)
        statement = statement.order_by(RunRow.finished_at.desc()).limit(MAX_MEASURED)
        bodies = await self._database.read(lambda session: list(session.scalars(statement)))
        return await asyncio.to_thread(_summarize_calls, bodies)


def _summarize_calls(bodies: Sequence[str]) -> list[Figure]:
    results = (json.loads(body)["event"]["result"] for body in bodies)
    return summarize_durations(
        (result["tool"], result["outcome"] != "ok", float(result.get("seconds", 0.0)))
        for result in results
        if result.get("outcome") is not None
    )


def summarize_durations(measurements: Iterable[tuple[str, bool, float]]) -> list[Figure]:
    """Summarize tuples of name, whether it failed, and seconds; the most frequent name first."""
    seconds, failed = defaultdict[str, list[float]](list), defaultdict[str, int](int)
    for name, has_failed, duration in measurements:
        seconds[name].append(duration)
        failed[name] += has_failed
    summaries = [
        Figure(
            name=name,
            count=len(durations),
            failed=failed[name],
            median=_find_percentile(durations, 0.5),
            p95=_find_percentile(durations, 0.95),
        )
        for name, durations in seconds.items()
    ]
    return sorted(summaries, key=lambda figure: (-figure.count, figure.name))[:_MAX_FIGURES]


def _find_percentile(seconds: Sequence[float], share: float) -> float:
    """Return the least number of seconds within which that share ended (nearest-rank method)."""
    ordered = sorted(seconds)
    return ordered[max(0, -(-len(ordered) * int(share * 100) // 100) - 1)]
