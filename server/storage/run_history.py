"""Runs that are over: searched by their users, and measured for administrators."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import Select, func, select

from domain.event import CallFinished, EventRecord, InputNeeded, Outcome
from domain.model import Model
from domain.usage import Usage
from domain.verdict import Verdict
from server.storage.repository import Repository
from server.storage.rows.runs import ConversationRow, EventRow, MessageRow, RunRow, RunToolRow
from server.storage.runs import ListedRun, RunStatus

_MOST_TOOLS = 200
Refusal = Literal["call", "plan"]


class PastRun(ListedRun):
    """``calls``: how many it has really made; null while it has not ended. ``refused``: what its user did not allow, where it ended for that: a call, or
    its plan; null also once its events are removed.
    """

    conversation_title: str
    calls: int | None
    refused: Refusal | None = None


class RunFilter(Model):
    """What is looked for; what is empty or None chooses nothing. ``search``: in what was asked or answered, in any case. ``verdict`` ``none``:
    of which nothing was said.
    """

    search: str = ""
    status: RunStatus | None = None
    outcome: Outcome | None = None
    planner: str = ""
    policy: str = ""
    model: str = ""
    tool: str = ""
    verdict: Verdict | Literal["none"] | None = None
    since: datetime | None = None
    until: datetime | None = None
    conversation_id: str = ""


class ToolUse(Model):
    """A tool, and how many runs have called it."""

    tool: str
    runs: int


_LISTED = [getattr(RunRow, name) for name in ListedRun.model_fields]
_CALL_COUNT = (
    select(func.coalesce(func.sum(RunToolRow.calls), 0))
    .where(RunToolRow.run_id == RunRow.id)
    .correlate(RunRow)
    .scalar_subquery()
)
_CALL_EVENTS = ("call.started", "call.finished")
_MAY_BE_SKIPPED_CALL = (EventRow.kind == "call.finished") & EventRow.body.contains('"status":"skipped"')
_MAY_ASK_FOR_PLAN = (EventRow.kind == "input.needed") & EventRow.body.contains('"asks":"plan"')
"""What may tell of it, before it is read."""


class RunHistory(Repository):
    """That of a database."""

    async def list_page(self, user_id: str, criteria: RunFilter, before: str = "", limit: int = 50) -> list[PastRun]:
        """The latest first, those older than the run with id ``before``."""
        chosen = select(*_LISTED, ConversationRow.title.label("conversation_title"), _CALL_COUNT.label("calls"))
        chosen = chosen.join(ConversationRow, ConversationRow.id == RunRow.conversation_id)
        chosen = _apply_filter(chosen.where(RunRow.user_id == user_id), criteria)
        if before:
            chosen = chosen.where(RunRow.id < before)
        latest = chosen.order_by(RunRow.id.desc()).limit(limit)
        found = await self._database.read(lambda session: session.execute(latest).mappings().all())
        runs = [_to_past_run({**row}) for row in found]
        refused = await self._find_refusals([run.id for run in runs if run.outcome == "gave_up"])
        return [run.model_copy(update={"refused": refused.get(run.id)}) for run in runs]

    async def _find_refusals(self, runs: Sequence[str]) -> dict[str, Refusal]:
        """What was not allowed in those of these runs that gave up for it: a call, or the plan, which is asked about before anything is called."""
        if not runs:
            return {}
        of_runs = select(EventRow.run_id, EventRow.body).where(EventRow.run_id.in_(runs))
        told = of_runs.where(_MAY_BE_SKIPPED_CALL | _MAY_ASK_FOR_PLAN)
        calls = select(EventRow.run_id).where(EventRow.run_id.in_(runs), EventRow.kind.in_(_CALL_EVENTS)).distinct()
        found = await self._database.read(lambda session: session.execute(told).all())
        called = set(await self._database.read(lambda session: session.scalars(calls).all()))
        events = [(run, EventRecord.model_validate_json(body).event) for run, body in found]
        plans = {run for run, event in events if isinstance(event, InputNeeded) and event.asks == "plan"}
        skips = {run for run, event in events if isinstance(event, CallFinished) and event.result.status == "skipped"}
        refused: dict[str, Refusal] = dict.fromkeys(plans - called, "plan")
        return {**refused, **dict.fromkeys(skips, "call")}

    async def list_tools(self, user_id: str) -> list[ToolUse]:
        """Those that a user's runs have called, most runs first."""
        runs = func.count()
        chosen = select(RunToolRow.tool, runs).join(RunRow, RunRow.id == RunToolRow.run_id)
        chosen = chosen.where(RunRow.user_id == user_id).group_by(RunToolRow.tool)
        first = chosen.order_by(runs.desc(), RunToolRow.tool).limit(_MOST_TOOLS)
        found = await self._database.read(lambda session: session.execute(first).all())
        return [ToolUse(tool=tool, runs=count) for tool, count in found]


def _apply_filter(chosen: Select[*tuple[Any, ...]], wanted: RunFilter) -> Select[*tuple[Any, ...]]:
    same = wanted.model_dump(include={"status", "outcome", "planner", "policy", "model", "conversation_id"})
    chosen = chosen.where(*(getattr(RunRow, name) == value for name, value in same.items() if value))
    if words := wanted.search.casefold().strip():
        said = (MessageRow.run_id == RunRow.id) & MessageRow.text_key.contains(words, autoescape=True)
        chosen = chosen.where(select(MessageRow.id).where(said).exists())
    if wanted.tool:
        called = (RunToolRow.run_id == RunRow.id) & (RunToolRow.tool == wanted.tool)
        chosen = chosen.where(select(RunToolRow.run_id).where(called).exists())
    if wanted.verdict:
        chosen = chosen.where(RunRow.verdict == (None if wanted.verdict == "none" else wanted.verdict))
    if wanted.since:
        chosen = chosen.where(RunRow.created_at >= wanted.since)
    if wanted.until:
        chosen = chosen.where(RunRow.created_at < wanted.until)
    return chosen


def _to_past_run(row: dict[str, Any]) -> PastRun:
    return PastRun.model_validate(row if row["status"] == "finished" else {**row, "calls": None})


MAX_MEASURED = 5_000
"""Runs, and calls, that are looked at: the newest."""
_MAX_FIGURES = 50
_MAX_EVENT_LENGTH = 100_000
"""Characters of an event: a longer one is left out, since reading all of them would hold the server."""
_FAILED_OUTCOMES = ("failed", "gave_up", "budget")


class Figure(Model):
    """Of one kind. ``median`` and ``p95``: seconds within which half and 95 in 100 of them ended."""

    name: str
    count: int
    failed: int
    median: float
    p95: float


class RunPerformance(Repository):
    """That of a database."""

    async def measure_planners(self, days: int) -> list[Figure]:
        """Of runs that have ended, by planner and policy; those that their users ended are left out."""
        since = self._clock() - timedelta(days=days)
        ended = (RunRow.status == "finished") & (RunRow.finished_at >= since) & (RunRow.outcome != "cancelled")
        chosen = select(RunRow.planner, RunRow.policy, RunRow.outcome, RunRow.usage).where(ended)
        chosen = chosen.order_by(RunRow.finished_at.desc()).limit(MAX_MEASURED)
        found = await self._database.read(lambda session: list(session.execute(chosen)))
        return summarize_durations(
            (f"{planner} ({policy})", outcome in _FAILED_OUTCOMES, Usage.model_validate(usage or {}).total_seconds)
            for planner, policy, outcome, usage in found
        )

    async def measure_tools(self, days: int) -> list[Figure]:
        """Of calls that were made in runs that have ended."""
        since = self._clock() - timedelta(days=days)
        chosen = select(EventRow.body).join(RunRow, RunRow.id == EventRow.run_id).where(RunRow.finished_at >= since)
        chosen = chosen.where(EventRow.kind == "call.finished", func.length(EventRow.body) < _MAX_EVENT_LENGTH)
        chosen = chosen.order_by(RunRow.finished_at.desc()).limit(MAX_MEASURED)
        bodies = await self._database.read(lambda session: list(session.scalars(chosen)))
        return await asyncio.to_thread(_summarize_calls, bodies)


def _summarize_calls(bodies: Sequence[str]) -> list[Figure]:
    results = (json.loads(body)["event"]["result"] for body in bodies)
    return summarize_durations(
        (one["tool"], one["outcome"] != "ok", float(one.get("seconds", 0.0)))
        for one in results
        if one.get("outcome") is not None
    )


def summarize_durations(told: Iterable[tuple[str, bool, float]]) -> list[Figure]:
    """``told``: name, whether it failed, seconds. The most frequent first."""
    seconds, failed = defaultdict[str, list[float]](list), defaultdict[str, int](int)
    for name, bad, took in told:
        seconds[name].append(took)
        failed[name] += bad
    made = [
        Figure(
            name=name,
            count=len(all_),
            failed=failed[name],
            median=_find_percentile(all_, 0.5),
            p95=_find_percentile(all_, 0.95),
        )
        for name, all_ in seconds.items()
    ]
    return sorted(made, key=lambda one: (-one.count, one.name))[:_MAX_FIGURES]


def _find_percentile(seconds: Sequence[float], share: float) -> float:
    """The least within which that share of them ended (nearest rank)."""
    ordered = sorted(seconds)
    return ordered[max(0, -(-len(ordered) * int(share * 100) // 100) - 1)]
