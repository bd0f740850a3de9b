"""What users say of the answers of their runs: right or wrong, or nothing any more."""

import asyncio

from pydantic import BaseModel

from agent.learning.user_verdict import VerdictTargets, apply_verdict, build_judged_run
from agent.memory.long_term import LongTermMemory
from domain.errors import ConflictError
from domain.event import Verdict
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.documents import own
from server.routes.router import operations
from server.routes.runs import ShownRun, shown
from server.routes.texts import RowId, ShortText
from server.runs.event_journal import parse_events
from server.services import Services
from server.storage.runs import Run
from server.token_scopes import by_token

router = operations("/runs/{run_id}", tag="runs", responses=problems(401, 404))
_SAYS_SOMETHING = ("answered", "partly")
_KINDS = (
    "run.started",
    "subtask.started",
    "memory.recalled",
    "candidates.considered",
    "step.chosen",
    "solution.taken",
    "path.ended",
    "plan.ready",
    "step.backtracked",
    "program.started",
    "program.looked",
    "program.failed",
    "program.ended",
    "call.finished",
    "weights.learned",
    "run.finished",
)
"""Events that tell what a run went by, and what it left behind."""


class VerdictBody(BaseModel):
    verdict: Verdict | None
    note: ShortText = ""


@router.put("/verdict", summary="Say that a run's answer is right or wrong, or neither", responses=problems(409))
@by_token("ask")
async def judge_run(run_id: RowId, body: VerdictBody, user: CurrentUser, services: CurrentServices) -> ShownRun:
    """A wrong answer is not given again to this request, nor to one that is worded like it. The latest word counts; ``null`` takes it back."""
    run = await own(run_id, user.id, services)
    if run.status != "finished" or run.outcome not in _SAYS_SOMETHING:
        raise ConflictError("there is no answer to judge: the run has not ended, or it found none")
    if (run.verdict, run.verdict_note) != (body.verdict, body.note):
        await _count(run, body.verdict, services)
        run = await services.storage.runs.set_verdict(run, body.verdict, body.note)
    return shown(run, (await services.storage.events.find_last_numbers([run_id])).get(run_id, 0))


async def _count(run: Run, verdict: Verdict | None, services: Services) -> None:
    """Before it is kept, so that what could not be counted is said once more. What a run did long ago in detail is not known any more."""
    if run.verdict == verdict:
        return
    records = await parse_events(await services.storage.events.list_kinds(run.id, _KINDS))
    if len(records) < 2:  # of long ago the end alone is kept
        return
    container, owner = await services.agents.get_container(), run.user_id
    of = await asyncio.to_thread(build_judged_run, records, owner)
    by_hand = run.settings.get("solution")
    if isinstance(by_hand, str):
        of = of.model_copy(update={"solutions": (*of.solutions, by_hand)})
    memory = LongTermMemory(await container.memories(), await container.embedder(), owner)
    told = VerdictTargets(container.graph, memory, await container.solutions(owner), container.weights)
    await apply_verdict(of, run.verdict, verdict, told, run.verdict_changes + 1)
