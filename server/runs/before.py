"""What came before a run in its conversation: the runs that had ended when it was asked for, so that it sees the same however often it is taken up."""

from agent.conversation import MOST_RUNS, EarlierRun, earlier_run
from server.runs.records import records_of
from server.storage.runs import Run
from server.storage.storage import Storage

_LOOKED_AT = 20
_KINDS = ("subtask.started", "step.backtracked", "call.finished")


async def runs_before(run: Run, storage: Storage) -> list[EarlierRun]:
    """The latest ones that had got as far as asking anything, the oldest first."""
    found: list[EarlierRun] = []
    for one in await storage.runs.page(
        run.user_id, conversation_id=run.conversation_id, before=run.id, limit=_LOOKED_AT
    ):
        if one.finished_at is None or one.finished_at > run.created_at:
            continue
        events = await storage.events.of_run(one.id, _KINDS)
        if events:
            found.append(earlier_run(await records_of(events)))
        if len(found) == MOST_RUNS:
            break
    return found[::-1]
