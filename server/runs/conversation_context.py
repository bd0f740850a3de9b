"""What a run has from before it: the earlier runs of its conversation, what its user said in them, and what another's template holds."""

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
"""Of a run's settings: it goes on from nothing that was said before in its conversation."""
_LOOKED_AT = 20
_KINDS = ("subtask.started", "step.backtracked", "call.finished", "program.ended", "run.finished")


class EarlierRuns:
    """The runs of a run's conversation that were asked for before it, read once for all that look at them.

    There are none where the run goes on from nothing that was said before.
    """

    def __init__(self, run: Run, storage: Storage) -> None:
        self._run = run
        self._storage = storage
        self._runs = Lazy(self._read)

    async def get(self) -> list[Run]:
        """Return them, the latest first."""
        return await self._runs.get()

    async def _read(self) -> list[Run]:
        return [] if self._run.settings.get(ALONE) else await self._storage.runs.list_before(self._run, _MESSAGES)


async def runs_before(run: Run, storage: Storage, earlier: EarlierRuns | None = None) -> list[EarlierRun]:
    """The latest ones that had got as far as asking anything, the oldest first."""
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
"""Of a run's settings: the values that the author of its template fixed, where that is another user. Runs of earlier versions lack it."""
_MESSAGES = 50
"""Messages of a conversation that count as its user's word, the latest ones."""


def by_another(plan: ProgramPlan, given: Collection[str]) -> JsonObject:
    """What the settings of a run say of a template of another user. ``given``: the inputs for which the user gave values of their own.

    It is kept with the run: the template may change hands, change or go before the run ends.
    """
    fixed: list[JsonObject] = [
        {"tool": tool, "parameter": name, "value": value} for tool, name, value in fixed_values(plan, given)
    ]
    return {_OTHERS: [*fixed]}


async def voices_of(run: Run, storage: Storage, earlier: EarlierRuns | None = None) -> Voices:
    """However often a run is taken up, messages and answers to other runs after it do not count; what its user has corrected meanwhile does."""
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
    """What earlier runs had asked and were answered when the run was asked for. Its own answers are told by its events."""
    found: defaultdict[str, list[RunQuestion]] = defaultdict(list)
    if not before:
        return found
    for one in await storage.run_questions.list_answered([one.id for one in before], run.created_at):
        found[one.run_id].append(one)
    return found


def _said_in(run: Run, answered: Mapping[str, Sequence[RunQuestion]], by_others: Collection[str]) -> Iterator[str]:
    """The words of its user in one run: its request and their answers. In one of another's template, neither the request nor a choice that it
    proposed is worded by them.
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
    """The runs of one user's that are of another's template."""
    untold = {one.template_id for one in runs if one.template_id is not None and _OTHERS not in one.settings}
    theirs = await storage.templates.find_owned_by_others(untold, runs[0].user_id) if untold else set[str]()
    return {one.id for one in runs if _OTHERS in one.settings or one.template_id in theirs}


def _fixed(run: Run) -> list[Fixed]:
    """The values that stand in the plan that a run was asked for with."""
    return fixed_values(without_documents(run))


def _fixed_by_others(run: Run, fixed: list[Fixed]) -> list[Fixed]:
    """Of a run of another's template. Where the run does not tell them from the user's values for its parameters: all of its plan."""
    if _OTHERS not in run.settings:
        return fixed
    told = cast("list[JsonObject]", run.settings.get(_OTHERS) or [])
    return [(ToolId(str(one["tool"])), str(one["parameter"]), one["value"]) for one in told]
