"""What solutions are made of: a run, a template, or a person's program with the requests that it serves; checked as plans are."""

import logging
from typing import Annotated, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

from agent.plans.plan_inputs import map_shown_names
from agent.plans.plan_text_check import check_plan
from agent.plans.stored_plan import restore_plan
from agent.solutions.conversion import build_solution_from_plan
from domain.errors import NotFoundError, UnavailableError, UsageError
from domain.solution import Solution, SolutionOrigin
from server.routes.documents import own as own_run
from server.routes.drawn_documents import drawn_from
from server.routes.given_programs import GivenWholeProgram
from server.routes.taken_templates import seen
from server.routes.template_content import Place, content
from server.routes.texts import Plain, RowId
from server.routes.written_programs import written_plan
from server.runs.given_plans import load_given_plan
from server.runs.waiting_plans import CheckedOpenPlan
from server.services import Services
from server.storage.accounts import User
from server.storage.runs import Run
from server.storage.templates import TemplateContent

Pattern = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True), Plain]
InputName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,79}$")]
_MOST = 20
_log = logging.getLogger(__name__)


class SolutionBody(BaseModel):
    """Made from a finished run, a template or a program, one of them. ``patterns``: requests that it serves, ``{name}`` where the value of an input stands; those
    of a run and of a template are known.
    """

    run_id: RowId | None = None
    template_id: RowId | None = None
    program: GivenWholeProgram | None = None
    patterns: list[Pattern] = Field(
        default_factory=list[str], max_length=_MOST, examples=[["How many inhabitants does {city} have?"]]
    )
    parameters: dict[InputName, Place] = Field(
        default_factory=dict[str, Place],
        max_length=50,
        examples=[{"city": {"input": "city"}}],
        description="Which values of the run may differ, by the names they get.",
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(one is not None for one in (self.run_id, self.template_id, self.program)) != 1:
            raise ValueError("give a run_id, a template_id or a program, one of them")
        return self


async def made(source: SolutionBody, user: User, services: Services) -> Solution:
    """The user's solution. ``UsageError`` with what is wrong with it; ``NotFoundError``: there is no such run or template of this user's."""
    if source.program is not None:
        plan = await written_plan(source.program, services)
        return build_solution_from_plan(plan, source.patterns, user.id, "person")
    if source.template_id is not None:
        _, version = await seen(source.template_id, user, services)
        return of_content(version, user.id, source.patterns)
    run = await own_run(source.run_id or "", user.id, services)
    found = await content(run, source.parameters or await _all_that_may_differ(run, services), "", services)
    sent = load_given_plan(run) is not None
    return of_content(found, user.id, source.patterns, "person" if sent else "run")


async def _all_that_may_differ(run: Run, services: Services) -> dict[str, Place]:
    drawn = await drawn_from(run, services)
    drawn.refuse_files("a solution")
    if drawn.plan.inputs:
        return {name: Place(input=name) for name in map_shown_names(drawn.plan)}
    return {one.name: Place(step=one.step, parameter=one.parameter) for one in drawn.parameter_candidates}


def of_content(
    kept: TemplateContent,
    owner: str,
    patterns: list[str] | None = None,
    origin: SolutionOrigin = "template",
) -> Solution:
    """What a version of a template is as a solution. ``UsageError`` where it can be none."""
    plan = restore_plan(kept.plan)
    known = [kept.note] if kept.note else []
    return build_solution_from_plan(
        plan, [*known, *(patterns or [])], owner, origin, runs=[kept.run_id] if kept.run_id else []
    )


async def offered(kept: TemplateContent, owner: str, services: Services) -> None:
    """A template's version for the library of its owner, as far as it can be a solution; without the library it is a template all the same."""
    try:
        one = of_content(kept, owner)
        await (await (await services.agents.get_container()).solutions(owner)).add([one])
    except UsageError:
        return
    except UnavailableError as error:
        _log.warning("a template is kept in no library of solutions: %s", error)


async def checked_again(solution: Solution, services: Services) -> None:
    """``UsageError`` with what is wrong with its program, by line, over its tools as they are; ``NotFoundError`` where they are gone."""
    container = await services.agents.get_container()
    program = solution.plan.program
    docs = await container.graph.get_tools(program.tools.values())
    gone = [tool for tool in solution.path if tool not in docs]
    if gone:
        raise NotFoundError(
            f"no such tool is indexed any more: {', '.join(gone)[:400]}; forget the solution, or index it"
        )
    found = await check_plan(program.text, solution.plan.inputs, program.tools, docs, container.sandbox(), values={})
    CheckedOpenPlan(found.plan, found.plan, found.complaints).raise_problems()
