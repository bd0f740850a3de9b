"""A user's runs over all conversations, as they are looked for long after: by what was asked, how they ended and what they called."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Select, func, select

from domain.event import CallFinished, EventRecord, InputNeeded, Outcome
from domain.model import Model
from domain.verdict import Verdict
from server.storage.database import Database
from server.storage.rows.conversations import ConversationRow, MessageRow
from server.storage.rows.runs import EventRow, RunRow, RunToolRow
from server.storage.runs import ListedRun, RunStatus

_MOST_TOOLS = 200
Refused = Literal["call", "plan"]


class PastRun(ListedRun):
    """``calls``: how many it has really made; null while it has not ended. ``refused``: what its user did not allow, where it ended for that: a call, or
    its plan; null also once its events are removed.
    """

    conversation_title: str
    calls: int | None
    refused: Refused | None = None


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
_CALLS = (
    select(func.coalesce(func.sum(RunToolRow.calls), 0))
    .where(RunToolRow.run_id == RunRow.id)
    .correlate(RunRow)
    .scalar_subquery()
)
_CALLED = ("call.started", "call.finished")
_SKIPS = (EventRow.kind == "call.finished") & EventRow.body.contains('"status":"skipped"')
_ASKS_FOR_PLAN = (EventRow.kind == "input.needed") & EventRow.body.contains('"asks":"plan"')
"""What may tell of it, before it is read."""


class RunHistory:
    """That of a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, user_id: str, wanted: RunFilter, before: str = "", limit: int = 50) -> list[PastRun]:
        """The latest first, those older than the run with id ``before``."""
        chosen = select(*_LISTED, ConversationRow.title.label("conversation_title"), _CALLS.label("calls"))
        chosen = chosen.join(ConversationRow, ConversationRow.id == RunRow.conversation_id)
        chosen = _filtered(chosen.where(RunRow.user_id == user_id), wanted)
        if before:
            chosen = chosen.where(RunRow.id < before)
        latest = chosen.order_by(RunRow.id.desc()).limit(limit)
        found = await self._database.read(lambda session: session.execute(latest).mappings().all())
        runs = [_past({**row}) for row in found]
        refused = await self._refused([run.id for run in runs if run.outcome == "gave_up"])
        return [run.model_copy(update={"refused": refused.get(run.id)}) for run in runs]

    async def _refused(self, runs: Sequence[str]) -> dict[str, Refused]:
        """What was not allowed in those of these runs that gave up for it: a call, or the plan, which is asked about before anything is called."""
        if not runs:
            return {}
        of_runs = select(EventRow.run_id, EventRow.body).where(EventRow.run_id.in_(runs))
        told = of_runs.where(_SKIPS | _ASKS_FOR_PLAN)
        calls = select(EventRow.run_id).where(EventRow.run_id.in_(runs), EventRow.kind.in_(_CALLED)).distinct()
        found = await self._database.read(lambda session: session.execute(told).all())
        called = set(await self._database.read(lambda session: session.scalars(calls).all()))
        events = [(run, EventRecord.model_validate_json(body).event) for run, body in found]
        plans = {run for run, event in events if isinstance(event, InputNeeded) and event.asks == "plan"}
        skips = {run for run, event in events if isinstance(event, CallFinished) and event.result.status == "skipped"}
        refused: dict[str, Refused] = dict.fromkeys(plans - called, "plan")
        return {**refused, **dict.fromkeys(skips, "call")}

    async def tools(self, user_id: str) -> list[ToolUse]:
        """Those that a user's runs have called, most runs first."""
        runs = func.count()
        chosen = select(RunToolRow.tool, runs).join(RunRow, RunRow.id == RunToolRow.run_id)
        chosen = chosen.where(RunRow.user_id == user_id).group_by(RunToolRow.tool)
        first = chosen.order_by(runs.desc(), RunToolRow.tool).limit(_MOST_TOOLS)
        found = await self._database.read(lambda session: session.execute(first).all())
        return [ToolUse(tool=tool, runs=count) for tool, count in found]


def _filtered(chosen: Select[*tuple[Any, ...]], wanted: RunFilter) -> Select[*tuple[Any, ...]]:
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


def _past(row: dict[str, Any]) -> PastRun:
    return PastRun.model_validate(row if row["status"] == "finished" else {**row, "calls": None})
