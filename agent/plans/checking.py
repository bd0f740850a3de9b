"""What keeps a plan from being carried out as it stands."""

from agent.evidence import Evidence
from agent.frontier import Path
from agent.tool_text import clean
from domain.errors import UsageError
from domain.plan_document import PlanDocument


async def known(document: PlanDocument, evidence: Evidence) -> Path:
    """The tools of a plan, read. ``UsageError`` where it has none, or one that is not there."""
    path = tuple(step.tool for step in document.steps)
    if not path:
        raise UsageError("a plan needs at least one step")
    await evidence.read(path)
    unknown = [clean(tool, 120) for tool in dict.fromkeys(path) if not evidence.has(tool)]
    if unknown:
        raise UsageError(f"no such tool is indexed: {', '.join(unknown)}; take it out of the plan, or index it")
    return path
