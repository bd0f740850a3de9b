"""What programs are written with: the tools of a request's offer as functions, and more of them where a program lacks some."""

import logging
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from agent.conversation import EarlierRun
from agent.offer.maker import Offers
from agent.offer.tool_facts import Evidence
from agent.programs.offer_text import OfferText, render_offer
from agent.programs.signatures import PREAMBLE
from domain.errors import FootpathError
from domain.event import CandidatesConsidered, ConsideredTool
from domain.program import Program
from domain.tool import ToolDoc, ToolId
from graph.response_shape import response_shape

OFFERED = 16
"""Tools of an offer."""

_CALLED = 6
"""Tools of earlier calls that are offered again."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Functions:
    """``docs``: by the names of their functions; ``text``: as an author is shown them."""

    text: OfferText
    docs: dict[str, ToolDoc]

    @property
    def unknown(self) -> tuple[str, ...]:
        """The functions that return nobody knows what."""
        return tuple(name for name, doc in self.docs.items() if not response_shape(doc).known)

    def program(self, text: str, names: frozenset[str], *, tainted: bool) -> Program:
        """A text that has passed the checks, with what its names mean."""
        used = [one for one in self.text.signatures if one.name in names]
        return Program(
            text=text,
            tools={one.name: one.tool for one in used},
            arguments={one.name: dict(one.arguments) for one in used},
            stubs="\n".join((PREAMBLE, *(one.stub for one in used))),
            tainted=tainted,
        )


def functions(tools: Sequence[ToolDoc], tokens: int, taken: Collection[str] = ()) -> Functions:
    """Tools as functions, best first, those that ``tokens`` have a place for. ``taken``: names that are something else's."""
    text, known = render_offer(tools, tokens, taken=taken), {tool.id: tool for tool in tools}
    return Functions(text, {one.name: known[one.tool] for one in text.signatures})


async def offered_tools(
    text: str, offers: Offers | None, evidence: Evidence, known: Sequence[ToolId] = ()
) -> list[ToolDoc]:
    """The tools that are offered for a text, best first, but for those that are known already."""
    ids = [tool for tool in await _ids(text, offers, evidence) if tool not in known]
    await evidence.read(ids)
    return [evidence.doc(tool) for tool in ids if evidence.has(tool)]


async def offered_for_follow_up(
    text: str, before: Sequence[EarlierRun], offers: Offers | None, evidence: Evidence
) -> list[ToolDoc]:
    """The tools that are offered for a request in a conversation: for its own words, and for what it may go on from, which alone say little
    where it refers back: the tools that were called, the latest first, and those that the request before it and this one together call for.
    """
    own = await offered_tools(text, offers, evidence)
    near = await offered_tools(f"{before[-1].request} {text}", offers, evidence)
    called = list(dict.fromkeys(result.tool for run in reversed(before) for _, result in reversed(run.steps)))
    await evidence.read(called)
    known = [evidence.doc(tool) for tool in called[:_CALLED] if evidence.has(tool)]
    first, rest = own[: OFFERED // 2], own[OFFERED // 2 :]
    mixed = [one for pair in zip_longest((*known, *near), rest) for one in pair if one is not None]
    return list({one.id: one for one in (*first, *mixed)}.values())[: OFFERED * 3 // 2]


async def _ids(text: str, offers: Offers | None, evidence: Evidence) -> Sequence[ToolId]:
    if offers is not None:
        try:
            return (await offers.offer(text, OFFERED)).ids
        except FootpathError:
            raise
        except Exception:  # noqa: BLE001  # a defect of ours must not end the run: the search alone serves it, too
            _log.exception("no offer could be made")
    return [hit.id for hit in await evidence.find(text, OFFERED)]


def considered(tools: Sequence[ToolDoc], evidence: Evidence) -> CandidatesConsidered:
    """The event of an offer. The weight of a tool is by its place."""
    shown = tuple(
        ConsideredTool(
            tool=tool.id,
            weight=1 / math.log2(place + 1),
            availability=evidence.availability(tool.id),
            relevance=max(evidence.relevance(tool.id), default=0.0),
            origin="start",
        )
        for place, tool in enumerate(tools, start=1)
    )
    return CandidatesConsidered(path=(), candidates=shown, finish_weight=0.0)
