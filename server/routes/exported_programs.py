"""What a run did, or a solution, as a file for somewhere else."""

import asyncio
from typing import Annotated

from fastapi import Query
from pydantic import BaseModel

from agent.exporting.exported_program import ExportedProgram, build_exported_program
from agent.exporting.program_files import ExportForm, render_exported_file
from agent.plans.executed_plan import generalize_plan
from agent.solutions.patterns import resolve_alternatives
from domain.errors import NotFoundError
from domain.program import ProgramPlan
from server.dependencies import CurrentServices, CurrentUser
from server.problems import problems
from server.routes.documents import own
from server.routes.drawn_documents import drawn_from
from server.routes.router import operations
from server.routes.solutions import SolutionId
from server.routes.texts import RowId
from server.routes.tools import tools
from server.services import Services
from server.token_scopes import by_token

router = operations("", tag="runs", responses=problems(401, 404))
As = Annotated[ExportForm, Query(alias="as", description="A Python file, an MCP server, or a node of LangGraph.")]


class ExportedFileBody(BaseModel):
    """``file``: what it may be called; ``text``: what is in it, the same whenever the program is the same. No key is in it."""

    file: str
    text: str


@router.get("/runs/{run_id}/export", summary="What a finished run did, to run elsewhere", responses=problems(400, 409))
@by_token("read")
async def export_run(
    run_id: RowId, user: CurrentUser, services: CurrentServices, form: As = "python"
) -> ExportedFileBody:
    """Its program, or its calls as one; what the request said are inputs, with its values as defaults."""
    run = await own(run_id, user.id, services)
    made = await drawn_from(run, services)
    made.refuse_files("what is exported")
    docs = await tools(made.executed_program.program.tools.values(), services) or {}
    plan, words = await asyncio.to_thread(generalize_plan, made, run.request, docs)
    return await _file(await _exported(plan, words, services), form)


@router.get("/solutions/{solution_id}/export", summary="A solution, to run elsewhere", responses=problems(400))
@by_token("read")
async def export_solution(
    solution_id: SolutionId, user: CurrentUser, services: CurrentServices, form: As = "python"
) -> ExportedFileBody:
    library = await (await services.agents.get_container()).solutions(user.id)
    found = (await library.get([solution_id])).get(solution_id)
    if found is None:
        raise NotFoundError("there is no such solution")
    return await _file(
        await _exported(found.plan, resolve_alternatives(next(iter(found.patterns), "")), services), form
    )


async def _exported(plan: ProgramPlan, words: str, services: Services) -> ExportedProgram:
    docs = await tools(plan.program.tools.values(), services) or {}
    return await asyncio.to_thread(build_exported_program, plan, words, docs)


async def _file(program: ExportedProgram, form: ExportForm) -> ExportedFileBody:
    made = await asyncio.to_thread(render_exported_file, program, form)
    return ExportedFileBody(file=made.file, text=made.text)
