"""Tools found for a request, and one shown whole, as functions that a client's programs may call."""

from collections.abc import Iterator, Mapping, Sequence

from mcp.types import CallToolResult
from pydantic.types import JsonValue

from agent.execution.approval import describe_side_effect
from agent.execution.supplied_values import describe_missing_secrets
from agent.offer.tool_offer import OfferEntry
from agent.programs.signatures import ToolSignature
from agent.text import clean_text, estimate_tokens
from domain.tool import ToolDoc, ToolId
from graph.tool_description import describe_tool
from server.gateway.answers import fenced, said
from server.gateway.backend import Backend
from server.gateway.functions import SessionFunctions, supplied
from server.gateway.tools import FindTools, ShowTool

_TOKENS = 1500
"""Of the signatures that are shown whole; those behind them by name and parameters."""
_REASONS = 3
_DESCRIPTION = 1500


async def find_tools(given: FindTools, backend: Backend, functions: SessionFunctions) -> CallToolResult:
    """The offer for a request, as a run would have it, with the weightiest reasons of each tool."""
    offer = await (await backend.container.create_offer_maker()).offer(given.request, given.limit)
    known = await supplied(backend, offer.ids)
    offered = {one.id: one for one in offer.tools if one.id in known}
    if not offered:
        return said("No function was found: this store has none that fits. Say otherwise what you need.", {"tools": []})
    shown = functions.shown([known[tool] for tool in offered])
    texts = _within(shown)
    told: list[JsonValue] = [_told(one, texts[one.tool], offered[one.tool], known[one.tool]) for one in shown]
    lines = [f"{texts[one.tool]}\n  # why: {_why(offered[one.tool])}" for one in shown]
    head = "Functions, best first. Call them in run_program, all in one program, or one with call_tool."
    return said(f"{head}\n{fenced('functions', chr(10).join(lines))}", {"tools": told})


async def show_tool(given: ShowTool, backend: Backend, functions: SessionFunctions) -> CallToolResult:
    """All that is known of a tool that somebody needs who calls it."""
    doc = await functions.tool(given.tool, backend)
    (shown,) = functions.shown([doc])
    known = await describe_tool(backend.container.graph, doc.id, backend.container.weights)
    tried = "untested" if known.availability is None else f"{known.availability:.2f}"
    lines = [
        f"id: {doc.id}",
        f"host: {clean_text(doc.host, 200)}" if doc.host else "",
        "It only reads." if doc.safe else describe_side_effect(doc),
        f"chance that a call succeeds: {tried}",
        clean_text(doc.description or doc.toolset_description, _DESCRIPTION),
        *_parameters(shown, doc),
        *await describe_missing_secrets(doc, await backend.secrets()),
        shown.stub,
    ]
    text = "\n".join(line for line in lines if line)
    result: Mapping[str, JsonValue] = {
        "function": shown.name,
        "id": doc.id,
        "changes": not doc.safe,
        "availability": known.availability,
        "signature": shown.stub,
    }
    return said(fenced("function", text), result)


def _within(shown: Sequence[ToolSignature]) -> dict[ToolId, str]:
    """As much of each as there is room for; the best come first."""
    left, found = _TOKENS, dict[ToolId, str]()
    for one in shown:
        found[one.tool] = one.text if one.tokens <= left else one.short_text
        left -= estimate_tokens(found[one.tool])
    return found


def _told(one: ToolSignature, text: str, offered: OfferEntry, doc: ToolDoc) -> JsonValue:
    reasons: list[JsonValue] = [reason.description for reason in offered.reasons[:_REASONS]]
    return {"function": one.name, "id": one.tool, "changes": not doc.safe, "signature": text, "why": reasons}


def _why(offered: OfferEntry) -> str:
    return "; ".join(reason.description for reason in offered.reasons[:_REASONS])


def _parameters(shown: ToolSignature, doc: ToolDoc) -> Iterator[str]:
    described = {one.name: clean_text(one.description, 300) for one in doc.parameters}
    for name, given in shown.arguments.items():
        if words := described.get(given):
            yield f"{name}: {words}"
