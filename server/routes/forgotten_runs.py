"""A run is forgotten by its user: what was asked and answered, and what was kept of it to go by."""

from domain.errors import ConflictError, NotFoundError
from domain.event import WeightsLearned
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId
from server.runs.event_journal import parse_events
from server.runs.late_lessons import forget_learned
from server.token_scopes import by_token

router = operations("/runs/{run_id}", tag="runs", responses=problems(401, 404))


@router.delete("", status_code=204, summary="Forget a run and what was kept of it", responses=problems(409))
@by_token("run_changes")
async def forget_run(run_id: RowId, user: CurrentUser, services: CurrentServices) -> None:
    """Question, answer and events go, the memory of the request, and a solution of one's own that no other run has borne out. What tools' weights have learnt of it
    stays: it names no request.
    """
    run = await services.storage.runs.get(run_id, user.id)
    if run is None:
        raise NotFoundError("there is no such run")
    if run.status != "finished":
        raise ConflictError("the run has not ended yet: stop it first, then forget it")
    records = await parse_events(await services.storage.events.list_kinds(run_id, ("weights.learned",)))
    learnt = [one.event for one in records if isinstance(one.event, WeightsLearned)]
    await forget_learned(services.agents, user.id, run_id, learnt)
    await services.storage.runs.remove(run_id, user.id)
