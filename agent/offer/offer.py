"""What an offer is: the tools that a request is to be served with, best first, each with the reasons that brought it."""

from dataclasses import dataclass
from typing import Literal

from domain.tool import ToolId

Kind = Literal[
    "found", "service", "named", "returns", "takes", "supplies", "resolves", "consumes", "joins", "holds", "sibling", "follows", "precedes",
    "walked", "served", "failing", "stands_in",
]  # fmt: skip
"""What speaks for a tool, or against it (``failing``); each is said in words by :attr:`Reason.told`."""

_TOLD: dict[Kind, str] = {
    "found": "found for the request",
    "service": "its service has a tool that was found",
    "named": "its name says what the request says",
    "returns": "its response speaks of what the request says",
    "takes": "its inputs speak of what the request says",
    "supplies": "gives what another tool lacks",
    "resolves": "looks up by a user's words what other tools need",
    "consumes": "takes what another tool gives",
    "joins": "takes from one tool what it turns into another's input",
    "holds": "is about what a tool that was found is a part of",
    "sibling": "is about the same thing as another tool",
    "follows": "past runs called it after another tool",
    "precedes": "past runs called it before another tool",
    "walked": "past runs called it",
    "served": "served requests alike",
    "failing": "its calls have failed of late",
    "stands_in": "can do the job of a tool that fails",
}


@dataclass(frozen=True, slots=True)
class Signal:
    """How far one thing holds of a tool; ``value`` 0: not at all. ``by``: the tool it comes from, if any; ``detail``: in its own figures."""

    value: float
    by: ToolId | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """``share``: what it adds to the tool's score (takes from it, where negative), in log-odds."""

    kind: Kind
    share: float
    signal: Signal

    @property
    def told(self) -> str:
        """In words, without ids."""
        return _TOLD[self.kind]


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """``score``: the sum of its reasons' shares, to be compared within one offer; ``reasons``: the weightiest first.

    ``alike``: copies of the same API, which one place stands for.
    """

    id: ToolId
    score: float
    reasons: tuple[Reason, ...] = ()
    alike: tuple[ToolId, ...] = ()


@dataclass(frozen=True, slots=True)
class Offer:
    """``considered``: how many tools were weighed for it."""

    request: str
    tools: tuple[OfferedTool, ...]
    considered: int

    @property
    def ids(self) -> tuple[ToolId, ...]:
        """The tools' ids, best first."""
        return tuple(tool.id for tool in self.tools)


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a tool is not offered, or that it is. ``found``: its place in the retriever's order, from 1; ``place``: among the tools weighed.

    ``last``: the score that the last tool of the offer has; ``tool``: what speaks for it all the same; None where no document is known.
    ``links``: what joins it to tools that are offered. ``stands_for``: the tool that is offered in its place, being a copy of it.
    """

    tool: OfferedTool | None
    offered: bool
    found: int | None
    place: int | None
    last: float
    links: tuple[Reason, ...] = ()
    stands_for: ToolId | None = None
