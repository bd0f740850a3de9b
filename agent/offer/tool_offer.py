"""Data of an offer: the tools offered for a request, best first, each with the reasons for it."""

from dataclasses import dataclass
from typing import Literal

from domain.tool import ToolId

ReasonKind = Literal[
    "found", "service", "named", "returns", "takes", "supplies", "resolves", "consumes", "joins", "holds", "sibling", "follows", "precedes",
    "walked", "served", "failing", "crowded", "stands_in",
]  # fmt: skip
"""Kind of evidence for a tool, or against it (``failing``, ``crowded``).

:attr:`OfferReason.description` describes each in words.
"""

_DESCRIPTIONS: dict[ReasonKind, str] = {
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
    "crowded": "tools that need the same come before it",
    "stands_in": "can do the job of a tool that fails",
}


@dataclass(frozen=True, slots=True)
class OfferSignal:
    """Strength of one kind of evidence for a tool."""

    value: float
    """The strength; 0 means that there is none."""
    by: ToolId | None = None
    """The tool that it comes from, if any."""
    detail: str = ""
    """Its own figures, in words."""


@dataclass(frozen=True, slots=True)
class OfferReason:
    """Contribution of one kind of evidence to a tool's score."""

    kind: ReasonKind
    share: float
    """Contribution to the score, in log-odds; negative if it speaks against the tool."""
    signal: OfferSignal

    @property
    def description(self) -> str:
        """The reason in words, without ids."""
        return _DESCRIPTIONS[self.kind]


@dataclass(frozen=True, slots=True)
class OfferEntry:
    """A tool of an offer."""

    id: ToolId
    score: float
    """Sum of the shares of its reasons, comparable within one offer."""
    reasons: tuple[OfferReason, ...] = ()
    """The weightiest first."""
    alike: tuple[ToolId, ...] = ()
    """Copies of the same API, which share its place."""


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """The tools offered for one request."""

    request: str
    tools: tuple[OfferEntry, ...]
    """The tools, best first."""
    considered: int
    """Number of tools that were scored for it."""

    @property
    def ids(self) -> tuple[ToolId, ...]:
        """The tools' ids, best first."""
        return tuple(tool.id for tool in self.tools)


@dataclass(frozen=True, slots=True)
class AbsenceReport:
    """Report on why a tool is not offered, or that it is."""

    tool: OfferEntry | None
    """The tool with what speaks for it all the same; None if no document of it is known."""
    offered: bool
    """True if it is in the offer."""
    found: int | None
    """Its rank in the retriever's order, from 1; None if it was not found."""
    place: int | None
    """Its rank among the scored tools, copies counted once, from 1."""
    last: float
    """Score of the offer's last tool."""
    links: tuple[OfferReason, ...] = ()
    """Links to tools that are offered."""
    stands_for: ToolId | None = None
    """The tool that is offered in its place, being a copy of it."""
