"""How long runs and calls took, and how many failed: read off what is stored of the last ones."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta

from sqlalchemy import func, select

from domain.model import Model
from domain.usage import Usage
from server.storage.clock import Clock
from server.storage.database import Database
from server.storage.rows.runs import EventRow, RunRow

MOST = 5_000
"""Runs, and calls, that are looked at: the newest."""
_SHOWN = 50
_LONG = 100_000
"""Characters of an event: a longer one is left out, since reading all of them would hold the server."""
_FAILED = ("failed", "gave_up", "budget")


class Figure(Model):
    """Of one kind. ``median`` and ``p95``: seconds within which half and 95 in 100 of them ended."""

    name: str
    count: int
    failed: int
    median: float
    p95: float


class Performance:
    """That of a database."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    async def by_planner(self, days: int) -> list[Figure]:
        """Of runs that have ended, by planner and policy; those that their users ended are left out."""
        since = self._clock() - timedelta(days=days)
        ended = (RunRow.status == "finished") & (RunRow.finished_at >= since) & (RunRow.outcome != "cancelled")
        chosen = select(RunRow.planner, RunRow.policy, RunRow.outcome, RunRow.usage).where(ended)
        chosen = chosen.order_by(RunRow.finished_at.desc()).limit(MOST)
        found = await self._database.read(lambda session: list(session.execute(chosen)))
        return figures(
            (f"{planner} ({policy})", outcome in _FAILED, Usage.model_validate(usage or {}).total_seconds)
            for planner, policy, outcome, usage in found
        )

    async def by_tool(self, days: int) -> list[Figure]:
        """Of calls that were made in runs that have ended."""
        since = self._clock() - timedelta(days=days)
        chosen = select(EventRow.body).join(RunRow, RunRow.id == EventRow.run_id).where(RunRow.finished_at >= since)
        chosen = chosen.where(EventRow.kind == "call.finished", func.length(EventRow.body) < _LONG)
        chosen = chosen.order_by(RunRow.finished_at.desc()).limit(MOST)
        bodies = await self._database.read(lambda session: list(session.scalars(chosen)))
        return await asyncio.to_thread(_of_calls, bodies)


def _of_calls(bodies: Sequence[str]) -> list[Figure]:
    results = (json.loads(body)["event"]["result"] for body in bodies)
    return figures(
        (one["tool"], one["outcome"] != "ok", float(one.get("seconds", 0.0)))
        for one in results
        if one.get("outcome") is not None
    )


def figures(told: Iterable[tuple[str, bool, float]]) -> list[Figure]:
    """``told``: name, whether it failed, seconds. The most frequent first."""
    seconds, failed = defaultdict[str, list[float]](list), defaultdict[str, int](int)
    for name, bad, took in told:
        seconds[name].append(took)
        failed[name] += bad
    made = [
        Figure(name=name, count=len(all_), failed=failed[name], median=_within(all_, 0.5), p95=_within(all_, 0.95))
        for name, all_ in seconds.items()
    ]
    return sorted(made, key=lambda one: (-one.count, one.name))[:_SHOWN]


def _within(seconds: Sequence[float], share: float) -> float:
    """The least within which that share of them ended (nearest rank)."""
    ordered = sorted(seconds)
    return ordered[max(0, -(-len(ordered) * int(share * 100) // 100) - 1)]
