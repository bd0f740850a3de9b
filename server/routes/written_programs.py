"""Programs that are sent for no plan that waits: for a run once more, or for a template; checked before anything is kept."""

from agent.plans.checked_plan import checked
from domain.program import ProgramPlan
from server.routes.given_programs import WholeSentProgram
from server.routes.tools import tools
from server.runs.checked_plans import PlanAsProgram
from server.services import Services


async def written_plan(sent: WholeSentProgram, services: Services) -> ProgramPlan:
    """The plan that a text is. ``UsageError`` with all that is wrong with it, by line; ``UnavailableError`` where this server has no tools."""
    sandbox = (await services.agents.container()).sandbox()
    docs = await tools(sent.tools.values(), services) or {}
    found = await checked(sent.text, sent.inputs, sent.tools, docs, sandbox, values=sent.values)
    PlanAsProgram(found.plan, found.plan, found.complaints).refuse()
    return found.plan
