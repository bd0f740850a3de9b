"""Tools that a program's author is offered as functions: for a request, for a follow-up, for what a program lacks."""

import logging
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from agent.conversation import EarlierRun
from agent.offer.offer_maker import OfferSource
from agent.offer.tool_evidence import ToolEvidence
from agent.programs.signatures import PREAMBLE, OfferText, render_offer
from domain.errors import FootpathError
from domain.event import CandidatesConsidered, ConsideredTool
from domain.program import Program
from domain.tool import ToolDoc, ToolId
from graph.shapes import infer_response_shape

OFFER_SIZE = 16
"""Maximum number of tools in the offer for a text."""

_MAX_CALLED_TOOLS = 6
"""Maximum number of tools of earlier calls that are offered again."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OfferedFunctions:
    """Tools that a program may call as functions."""

    offer: OfferText
    """Signatures of the functions, as shown to the author."""
    docs: dict[str, ToolDoc]
    """Tools by function name."""

    @property
    def unstructured(self) -> tuple[str, ...]:
        """Functions for whose responses no structure is known."""
        return tuple(name for name, doc in self.docs.items() if not infer_response_shape(doc).is_known)

    def build_program(self, text: str, names: frozenset[str], *, tainted: bool) -> Program:
        """Build the program of a checked text, with the tools that its ``names`` stand for."""
        used_signatures = [signature for signature in self.offer.signatures if signature.name in names]
        return Program(
            text=text,
            tools={signature.name: signature.tool for signature in used_signatures},
            arguments={signature.name: dict(signature.arguments) for signature in used_signatures},
            stubs="\n".join((PREAMBLE, *(signature.stub for signature in used_signatures))),
            tainted=tainted,
        )


def build_functions(tools: Sequence[ToolDoc], tokens: int, reserved: Collection[str] = ()) -> OfferedFunctions:
    """Build functions of as many tools as fit into ``tokens`` of text; ``tools`` are ordered best first.

    ``reserved``: names that are in use for something else.
    """
    offer, docs = render_offer(tools, tokens, reserved=reserved), {tool.id: tool for tool in tools}
    return OfferedFunctions(offer, {signature.name: docs[signature.tool] for signature in offer.signatures})


async def find_offered_tools(
    text: str, offers: OfferSource | None, evidence: ToolEvidence, excluded: Sequence[ToolId] = ()
) -> list[ToolDoc]:
    """Return the tools that are offered for a text, best first, without those in ``excluded``."""
    tool_ids = [tool for tool in await _find_offered_ids(text, offers, evidence) if tool not in excluded]
    await evidence.read(tool_ids)
    return [evidence.doc(tool) for tool in tool_ids if evidence.has(tool)]


async def find_follow_up_tools(
    text: str, earlier_runs: Sequence[EarlierRun], offers: OfferSource | None, evidence: ToolEvidence
) -> list[ToolDoc]:
    """Return the tools that are offered for a request that may refer back to earlier ones.

    Such a request says little by itself. So its own offer is mixed with the tools that were called before, latest
    first, and with the offer for the previous request and this one together. ``earlier_runs``: earlier runs, oldest first.
    """
    own_tools = await find_offered_tools(text, offers, evidence)
    context_tools = await find_offered_tools(f"{earlier_runs[-1].request} {text}", offers, evidence)
    called_ids = list(dict.fromkeys(result.tool for run in reversed(earlier_runs) for _, result in reversed(run.steps)))
    await evidence.read(called_ids)
    called_docs = [evidence.doc(tool) for tool in called_ids[:_MAX_CALLED_TOOLS] if evidence.has(tool)]
    # The best half of the request's own offer keeps its place whatever was called before.
    first, rest = own_tools[: OFFER_SIZE // 2], own_tools[OFFER_SIZE // 2 :]
    mixed = [doc for pair in zip_longest((*called_docs, *context_tools), rest) for doc in pair if doc is not None]
    return list({doc.id: doc for doc in (*first, *mixed)}.values())[: OFFER_SIZE * 3 // 2]


async def _find_offered_ids(text: str, offers: OfferSource | None, evidence: ToolEvidence) -> Sequence[ToolId]:
    """Return the ids of the offer for a text; of a plain search if offers are off or making one fails."""
    if offers is not None:
        try:
            return (await offers.offer(text, OFFER_SIZE)).ids
        except FootpathError:
            raise
        except Exception:  # noqa: BLE001  # a bug in the offer must not end the run: plain search still works
            _log.exception("no offer could be made")
    return [hit.id for hit in await evidence.find(text, OFFER_SIZE)]


def build_candidates_event(tools: Sequence[ToolDoc], evidence: ToolEvidence) -> CandidatesConsidered:
    """Build the event that reports an offer.

    A tool of rank r has weight 1 / log2(r + 1), the discount of NDCG.
    """
    candidates = tuple(
        ConsideredTool(
            tool=tool.id,
            weight=1 / math.log2(rank + 1),
            availability=evidence.availability(tool.id),
            relevance=max(evidence.relevance(tool.id), default=0.0),
            origin="start",
        )
        for rank, tool in enumerate(tools, start=1)
    )
    return CandidatesConsidered(path=(), candidates=candidates, finish_weight=0.0)
