"""Context of a run: earlier runs of its conversation, statements of its user, and values that a template fixed."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

from agent.conversation import MOST_RUNS, EarlierRun, earlier_run
from agent.execution.provenance import Fixed, Voices
from agent.plans.fixed_values import fixed_values, said_values
from domain.model import JsonObject
from domain.program import ProgramPlan
from domain.tool import ToolId
from server.runs.corrections import fixed_by_corrections
from server.runs.given_plans import without_documents
from server.runs.journal import records_of
from server.storage.run_events import RunQuestion
from server.storage.runs import Run
from server.storage.storage import Storage
from wiring.lazy import Lazy

ALONE = "alone"
"""Key in a run's settings: it ignores what was said before in its conversation."""
_LOOKED_AT = 20
_KINDS = ("subtask.started", "step.backtracked", "call.finished", "program.ended", "run.finished")


class EarlierRuns:
    """Earlier runs of a run's conversation, loaded once for all readers.

    Empty where the run ignores its conversation.
    """

    def __init__(self, run: Run, storage: Storage) -> None:
        self._run = run
        self._storage = storage
        self._runs = Lazy(self._read)

    async def get(self) -> list[Run]:
        """Return the runs, the latest first."""
        return await self._runs.get()

    async def _read(self) -> list[Run]:
        return [] if self._run.settings.get(ALONE) else await self._storage.runs.list_before(self._run, _MESSAGES)


async def runs_before(run: Run, storage: Storage, earlier: EarlierRuns | None = None) -> list[EarlierRun]:
    """Load the latest earlier runs that emitted any relevant event, the oldest first."""
    found: list[EarlierRun] = []
    before = await (earlier or EarlierRuns(run, storage)).get()
    for one in before[:_LOOKED_AT]:
        if one.finished_at is None or one.finished_at > run.created_at:
            continue
        events = await storage.events.list_kinds(one.id, _KINDS)
        if events:
            found.append(earlier_run(await records_of(events)))
        if len(found) == MOST_RUNS:
            break
    return found[::-1]


_OTHERS = "others"
"""Key in a run's settings: values that another user, the author of its template, fixed.

Earlier versions lack it.
"""
_MESSAGES = 50
"""Number of latest messages of a conversation that count as statements of its user."""


def by_another(plan: ProgramPlan, given: Collection[str]) -> JsonObject:
    """Return the settings entry of a run of another user's template, which records the values that the author fixed.

    ``given``: the inputs for which the user gave values. The entry is stored with the run, since the template may
    change hands, change or be removed before the run ends.
    """
    fixed: list[JsonObject] = [
        {"tool": tool, "parameter": name, "value": value} for tool, name, value in fixed_values(plan, given)
    ]
    return {_OTHERS: [*fixed]}


async def voices_of(run: Run, storage: Storage, earlier: EarlierRuns | None = None) -> Voices:
    """Collect what the run's user and the author of its template said and fixed.

    The result is the same each time the run is resumed: later messages and answers do not count, but corrections made
    meanwhile do.
    """
    before, inputs = await asyncio.gather(
        (earlier or EarlierRuns(run, storage)).get(), storage.run_questions.list_all(run.id)
    )
    asked = [*before[::-1], run]
    by_others = await _by_others(asked, storage)
    answered = await _answered(before, run, storage)
    fixed = await asyncio.to_thread(_fixed, run)
    others = _fixed_by_others(run, fixed) if run.id in by_others else []
    given = [] if run.id in by_others else said_values(without_documents(run))
    return Voices(
        said=[*given, *(text for one in asked for text in _said_in(one, answered, by_others))],
        fixed=[
            *(one for one in fixed if one not in others),
            *fixed_by_corrections(inputs),
        ],
        others_said=[run.request] if run.id in by_others else [],
        others_fixed=others,
    )


async def _answered(before: Sequence[Run], run: Run, storage: Storage) -> Mapping[str, Sequence[RunQuestion]]:
    """Load the questions of earlier runs that were answered when the run was requested, by run.

    The run's own answers are in its events.
    """
    found: defaultdict[str, list[RunQuestion]] = defaultdict(list)
    if not before:
        return found
    for one in await storage.run_questions.list_answered([one.id for one in before], run.created_at):
        found[one.run_id].append(one)
    return found


def _said_in(run: Run, answered: Mapping[str, Sequence[RunQuestion]], by_others: Collection[str]) -> Iterator[str]:
    """Yield the user's own words in one run: the request and their answers.

    In a run of another user's template, neither the request nor a choice that it proposed is worded by them.
    """
    if run.id not in by_others:
        yield run.request
    for one in answered.get(run.id, ()):
        told, question = cast("dict[str, Any]", one.answer), cast("dict[str, Any]", one.question)
        said = told.get("answer", "")
        picked = question.get("choices" if run.id in by_others else "theirs", ())
        if said and said not in picked:
            yield said


async def _by_others(runs: Sequence[Run], storage: Storage) -> set[str]:
    """Return the ids of the runs that use a template of another user."""
    untold = {one.template_id for one in runs if one.template_id is not None and _OTHERS not in one.settings}
    theirs = await storage.templates.find_owned_by_others(untold, runs[0].user_id) if untold else set[str]()
    return {one.id for one in runs if _OTHERS in one.settings or one.template_id in theirs}


def _fixed(run: Run) -> list[Fixed]:
    """Return the values in the plan that the run was asked to carry out."""
    return fixed_values(without_documents(run))


def _fixed_by_others(run: Run, fixed: list[Fixed]) -> list[Fixed]:
    """Return the values of a run that the author of its template fixed.

    Where the run does not record which values are the author's: all values of its plan.
    """
    if _OTHERS not in run.settings:
        return fixed
    told = cast("list[JsonObject]", run.settings.get(_OTHERS) or [])
    return [(ToolId(str(one["tool"])), str(one["parameter"]), one["value"]) for one in told]
