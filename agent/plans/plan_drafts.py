"""Draft a plan for a path, and suggest tools to add to a plan.

A draft has the arguments that are known before any call. Suggested are tools that past runs called next, and tools that
supply what a later step lacks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.offer.tool_evidence import ToolEvidence
from agent.request_reader import RequestReader
from agent.text import clean_text
from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import FINISH, ToolDoc, ToolId, is_unresolved
from graph.coupling import find_best_field


def draft_plan(
    request: str, tools: Sequence[ToolDoc], reader: RequestReader, earlier_tools: Sequence[ToolDoc] = ()
) -> PlanDocument:
    """Return a plan that calls these tools in order, with all arguments that are known before any call.

    Arguments come from documented fields of earlier responses, or from the request; others are left open.
    ``earlier_tools``: tools of the steps of other subtasks, which come first.
    """
    all_tools = [*earlier_tools, *tools]
    return PlanDocument(
        steps=tuple(
            _draft_step(request, tool, all_tools[: len(earlier_tools) + index], reader)
            for index, tool in enumerate(tools)
        )
    )


def _draft_step(request: str, tool: ToolDoc, preceding: Sequence[ToolDoc], reader: RequestReader) -> PlannedStep:
    """Return one step; a field of an earlier response takes precedence over a value of the request."""
    feeds = reader.check_inputs(tool, request, preceding).feeds
    takes = {feed.parameter: Take(step=feed.step, field=feed.field) for feed in feeds}
    known_values = {name: value for name, value in reader.find_known_values(request, tool).items() if name not in takes}
    return PlannedStep(tool=tool.id, arguments=known_values, takes=takes)


MAX_SUGGESTIONS = 4
"""Maximum number of suggestions at one position of a plan."""
_MAX_NEIGHBOURS = 12
_MAX_SEARCH_HITS = 6


@dataclass(frozen=True, slots=True)
class ToolSuggestion:
    """A tool that could be added to a plan."""

    after: int
    """Number of the step that it would follow; 0 if it would come first."""
    tool: ToolId
    api: str
    reason: str
    weight: float | None = None
    """Weight of the graph edge times the tool's availability, as in graph search; None if it was found otherwise."""
    fills: dict[str, Take] = field(default_factory=dict[str, Take])
    """Fields of earlier steps that can fill its parameters."""


async def suggest_tools(
    document: PlanDocument, earlier_tools: Sequence[ToolId], request: str, evidence: ToolEvidence
) -> tuple[ToolSuggestion, ...]:
    """Return suggestions for each position of a plan, best first.

    Tools that supply a parameter that the next step lacks come first. There are no suggestions while a tool of the
    plan is not indexed.
    """
    path = [*earlier_tools, *(step.tool for step in document.steps)]
    await evidence.read(path)
    if not all(evidence.has(tool) for tool in path):
        return ()  # missing tools have to be removed from the plan first
    suggested: list[ToolSuggestion] = []
    for after in range(len(document.steps) + 1):
        preceding, following = path[: len(earlier_tools) + after], path[len(earlier_tools) + after :]
        suggested += await _suggest_at(
            after,
            preceding,
            following,
            _find_missing_parameters(document, after, preceding, request, evidence),
            evidence,
            request,
        )
    return tuple(suggested)


def _find_missing_parameters(
    document: PlanDocument, after: int, preceding: Sequence[ToolId], request: str, evidence: ToolEvidence
) -> tuple[str, ...]:
    """Return the required parameters of the next step that neither the plan, the request nor earlier steps fill."""
    if after == len(document.steps):
        return ()
    step = document.steps[after]
    filled_names = {*step.arguments, *step.takes, *step.named}
    missing = evidence.reader.check_inputs(evidence.doc(step.tool), request, evidence.docs(tuple(preceding))).missing
    return tuple(name for name in missing if name not in filled_names)


async def _suggest_at(
    after: int,
    preceding: Sequence[ToolId],
    following: Sequence[ToolId],
    missing_parameters: Sequence[str],
    evidence: ToolEvidence,
    request: str,
) -> list[ToolSuggestion]:
    """Return the suggestions for one position.

    Arguments:
        after: Number of the step before the position.
        preceding: Tools of the steps before it.
        following: Tools of the steps after it.
        missing_parameters: Parameters that the next step lacks.
        evidence: Supplies documents and graph edges.
        request: The user's request.
    """
    weights: dict[ToolId, float | None] = {}
    if preceding:
        edges = sorted(await evidence.neighbours(preceding[-1]), key=lambda edge: -edge.rank_score)
        weights = {edge.target: edge.rank_score for edge in edges[:_MAX_NEIGHBOURS]}
    else:
        weights = {hit.id: None for hit in await evidence.find(request, _MAX_SEARCH_HITS)}
    if missing_parameters:
        weights |= {
            tool: None
            for tool, _ in await evidence.find_predecessors(following[0], _MAX_NEIGHBOURS)
            if tool not in weights
        }
    await evidence.read([tool for tool in weights if tool != FINISH and not is_unresolved(tool)])
    ranked: list[tuple[bool, ToolSuggestion]] = []
    for tool, weight in weights.items():
        if tool in (FINISH, *preceding[-1:], *following[:1]) or is_unresolved(tool) or not evidence.has(tool):
            continue
        doc = evidence.doc(tool)
        supplied_parameters = _find_supplied_parameters(doc, following, missing_parameters, evidence)
        reason = (
            f"gives {', '.join(supplied_parameters)} to the next step"
            if supplied_parameters
            else _explain_suggestion(weight, preceding, evidence)
        )
        ranked.append(
            (
                bool(supplied_parameters),
                ToolSuggestion(after, tool, doc.api, reason, weight, _find_takes(doc, preceding, evidence, request)),
            )
        )
    ranked.sort(key=lambda entry: (not entry[0], -(entry[1].weight or 0.0)))
    return [suggestion for _, suggestion in ranked[:MAX_SUGGESTIONS]]


def _find_supplied_parameters(
    doc: ToolDoc, following: Sequence[ToolId], missing_parameters: Sequence[str], evidence: ToolEvidence
) -> list[str]:
    """Return the lacking parameters of the next step that a documented field of this tool can fill."""
    if not missing_parameters:
        return []
    consumer = evidence.doc(following[0])
    candidates = [parameter for parameter in consumer.parameters if parameter.name in missing_parameters]
    return [parameter.name for parameter in candidates if find_best_field(doc, parameter, consumer, echoes=False)]


def _explain_suggestion(weight: float | None, preceding: Sequence[ToolId], evidence: ToolEvidence) -> str:
    """Return the reason for a suggestion that supplies no lacking parameter."""
    if weight is None:
        return "close to the request" if not preceding else "often called before the next step"
    return f"often called after {clean_text(evidence.doc(preceding[-1]).api, 80)}"


def _find_takes(doc: ToolDoc, preceding: Sequence[ToolId], evidence: ToolEvidence, request: str) -> dict[str, Take]:
    """Return the parameters of a tool that fields of earlier steps can fill."""
    feeds = evidence.reader.check_inputs(doc, request, evidence.docs(tuple(preceding))).feeds
    return {feed.parameter: Take(step=feed.step, field=feed.field) for feed in feeds}
