"""Versions of templates as they were kept, by this version of the server or by one whose plans were steps."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from agent.plans.plan_compilation import to_plan_document
from agent.plans.stored_plan import restore_plan
from agent.text import clean_text
from domain.errors import ConflictError, NotLinearError
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.routes.tools import tools
from server.services import Services
from server.storage.templates import TemplateVersion


@dataclass(frozen=True, slots=True)
class ReadVersion:
    """``plan``: None where it cannot be read. ``document``: its steps, where it is no more than steps. ``problem``: why it cannot be run as it is."""

    plan: ProgramPlan | None
    document: PlanDocument | None = None
    problem: str = ""


async def read_version(version: TemplateVersion, services: Services) -> ReadVersion:
    """Return a version as a program, or why this version of Footpath cannot read it. Its row stays as it is."""
    try:
        plan = restore_plan(version.plan)
    except ConflictError as error:
        return ReadVersion(None, problem=str(error))
    docs = await tools(plan.program.tools.values(), services)
    return await asyncio.to_thread(_read, plan, docs)


def _read(plan: ProgramPlan, docs: Mapping[ToolId, ToolDoc] | None) -> ReadVersion:
    gone = [
        clean_text(tool, 120)
        for tool in dict.fromkeys(plan.program.tools.values())
        if docs is not None and tool not in docs
    ]
    problem = f"no such tool is indexed: {', '.join(gone)}" if gone else ""
    try:
        return ReadVersion(plan, to_plan_document(plan, docs or {}), problem)
    except NotLinearError:
        return ReadVersion(plan, None, problem)
