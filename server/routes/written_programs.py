"""Programs that are sent for no plan that waits: for a run once more, or for a template; checked before anything is kept."""

from collections.abc import Mapping

from agent.files.given_files import GivenFiles
from agent.plans.plan_text_check import check_plan
from agent.programs.function_names import assign_tool_names, is_possible_tool_name
from agent.text import clean_text
from domain.errors import UsageError
from domain.program import ProgramPlan
from domain.tool import ToolDoc, ToolId
from server.routes.given_programs import WholeSentProgram
from server.routes.tools import tools
from server.runs.waiting_plans import CheckedOpenPlan
from server.services import Services

_NO_FILES = GivenFiles()


async def written_plan(sent: WholeSentProgram, services: Services, files: GivenFiles = _NO_FILES) -> ProgramPlan:
    """The plan that a text is. ``UsageError`` with all that is wrong with it, by line; ``UnavailableError`` where this server has no tools.

    A function has its tool's own name: whoever reads the text takes it for that tool. ``files``: that its run has.
    """
    sandbox = (await services.agents.get_container()).sandbox()
    docs = await tools(sent.tools.values(), services) or {}
    _refuse_other_names(sent.tools, docs)
    found = await check_plan(sent.text, sent.inputs, sent.tools, docs, sandbox, values=sent.values, files=files)
    CheckedOpenPlan(found.plan, found.plan, found.complaints).raise_problems()
    return found.plan


def _refuse_other_names(given: Mapping[str, ToolId], docs: Mapping[ToolId, ToolDoc]) -> None:
    faults: list[tuple[str, str]] = []
    for name, tool in given.items():
        if tool in docs and not is_possible_tool_name(name, docs[tool]):
            [(own, _)] = assign_tool_names([docs[tool]])
            said = f"{clean_text(name, 80)} is no name of the tool {clean_text(tool, 120)}: call it {own}, in the text, too."
            faults.append((f"program.tools.{clean_text(name, 80)}", said))
    if faults:
        raise UsageError(
            f"functions have their tools' names. {' '.join(said for _, said in faults[:10])}", tuple(faults)
        )
