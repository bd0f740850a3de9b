"""What a plan builds on is what its run has stored, or an earlier run of its conversation."""

from datetime import UTC, datetime

from domain.event import CallFinished, EventRecord
from domain.model import JsonObject
from domain.plan import PlanDocument, PlannedStep, StepResult, StepStatus
from server.runs.event_journal import to_stored_event
from server.runs.waiting_plans import load_given_results, load_waiting_plan
from server.storage.storage import Storage
from tests.support.row_samples import run, user
from tests.support.small_world import BOOKS, GEOCODE

PARIS: JsonObject = {"city": "Paris"}
LYON: JsonObject = {"city": "Lyon"}


def called(run_id: str, seq: int, arguments: JsonObject, status: StepStatus = "ok") -> EventRecord:
    result = StepResult(tool=GEOCODE.id, arguments=arguments, status=status, response=f'{{"number": {seq}}}')
    return EventRecord(
        run=run_id, seq=seq, at=datetime(2026, 3, 1, tzinfo=UTC), subtask=1, event=CallFinished(step=1, result=result)
    )


async def test_results_are_found_by_what_was_called(storage: Storage) -> None:
    ada = await user(storage)
    made, _ = await run(storage, ada)
    events = [called(made.id, 1, PARIS), called(made.id, 2, LYON, "failed"), called(made.id, 3, {})]
    await storage.events.append([to_stored_event(one) for one in events])
    plan = PlanDocument(steps=(PlannedStep(tool=BOOKS.id),)).model_dump(mode="json")
    given = [GEOCODE.id, GEOCODE.id, BOOKS.id]
    asked: JsonObject = {"plan": plan, "request": "a request", "given": [*given], "made": [PARIS, LYON, PARIS]}
    await storage.run_questions.ask(made.id, "plan-2", "plan", asked)
    found = await load_given_results(storage, await load_waiting_plan(storage, made.id, ada.id))
    assert [tool for tool, _ in found] == given
    assert [result and result.response for _, result in found] == ['{"number": 1}', None, None]
