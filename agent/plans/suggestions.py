"""Draft a plan for a path, and suggest tools to add to a plan.

A draft has the arguments that are known before any call. Suggested are tools that past runs called next, and tools that
supply what a later step lacks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.offer.tool_evidence import ToolEvidence
from agent.text import clean
from domain.plan import PlanDocument, Take
from domain.tool import FINISH, ToolDoc, ToolId, is_unresolved
from graph.coupling import find_best_field

MAX_SUGGESTIONS = 4
"""Maximum number of suggestions at one position of a plan."""
_MAX_NEIGHBOURS = 12
_MAX_FOUND = 6


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
        before, behind = path[: len(earlier_tools) + after], path[len(earlier_tools) + after :]
        suggested += await _suggest_at(
            after, before, behind, _find_lacking(document, after, before, request, evidence), evidence, request
        )
    return tuple(suggested)


def _find_lacking(
    document: PlanDocument, after: int, before: Sequence[ToolId], request: str, evidence: ToolEvidence
) -> tuple[str, ...]:
    """Return the required parameters of the next step that neither the plan, the request nor earlier steps fill."""
    if after == len(document.steps):
        return ()
    step = document.steps[after]
    filled_names = {*step.arguments, *step.takes, *step.named}
    missing = evidence.reader.check_inputs(evidence.doc(step.tool), request, evidence.docs(tuple(before))).missing
    return tuple(name for name in missing if name not in filled_names)


async def _suggest_at(
    after: int,
    before: Sequence[ToolId],
    behind: Sequence[ToolId],
    lacking: Sequence[str],
    evidence: ToolEvidence,
    request: str,
) -> list[ToolSuggestion]:
    """Return the suggestions for one position.

    Arguments:
        after: Number of the step before the position.
        before: Tools of the steps before it.
        behind: Tools of the steps after it.
        lacking: Parameters that the next step lacks.
        evidence: Supplies documents and graph edges.
        request: The user's request.
    """
    weights: dict[ToolId, float | None] = {}
    if before:
        edges = sorted(await evidence.neighbours(before[-1]), key=lambda edge: -edge.rank_score)
        weights = {edge.target: edge.rank_score for edge in edges[:_MAX_NEIGHBOURS]}
    else:
        weights = {hit.id: None for hit in await evidence.find(request, _MAX_FOUND)}
    if lacking:
        weights |= {
            tool: None
            for tool, _ in await evidence.find_predecessors(behind[0], _MAX_NEIGHBOURS)
            if tool not in weights
        }
    await evidence.read([tool for tool in weights if tool != FINISH and not is_unresolved(tool)])
    ranked: list[tuple[bool, ToolSuggestion]] = []
    for tool, weight in weights.items():
        if tool in (FINISH, *before[-1:], *behind[:1]) or is_unresolved(tool) or not evidence.has(tool):
            continue
        doc = evidence.doc(tool)
        given_parameters = _find_given_parameters(doc, behind, lacking, evidence)
        reason = (
            f"gives {', '.join(given_parameters)} to the next step"
            if given_parameters
            else _explain_suggestion(weight, before, evidence)
        )
        ranked.append(
            (
                bool(given_parameters),
                ToolSuggestion(after, tool, doc.api, reason, weight, _find_takes(doc, before, evidence, request)),
            )
        )
    ranked.sort(key=lambda entry: (not entry[0], -(entry[1].weight or 0.0)))
    return [one for _, one in ranked[:MAX_SUGGESTIONS]]


def _find_given_parameters(
    doc: ToolDoc, behind: Sequence[ToolId], lacking: Sequence[str], evidence: ToolEvidence
) -> list[str]:
    """Return the lacking parameters of the next step that a documented field of this tool can fill."""
    if not lacking:
        return []
    consumer = evidence.doc(behind[0])
    lacking_parameters = [parameter for parameter in consumer.parameters if parameter.name in lacking]
    return [
        parameter.name for parameter in lacking_parameters if find_best_field(doc, parameter, consumer, echoes=False)
    ]


def _explain_suggestion(weight: float | None, before: Sequence[ToolId], evidence: ToolEvidence) -> str:
    """Return the reason for a suggestion that supplies no lacking parameter."""
    if weight is None:
        return "close to the request" if not before else "often called before the next step"
    return f"often called after {clean(evidence.doc(before[-1]).api, 80)}"


def _find_takes(doc: ToolDoc, before: Sequence[ToolId], evidence: ToolEvidence, request: str) -> dict[str, Take]:
    """Return the parameters of a tool that fields of earlier steps can fill."""
    feeds = evidence.reader.check_inputs(doc, request, evidence.docs(tuple(before))).feeds
    return {feed.parameter: Take(step=feed.step, field=feed.field) for feed in feeds}
