"""A tool with all that planning asks of a graph about it: what one read gives for many tools, where each question would be one."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain.tool import ToolDoc
from graph.facts import Edge, Neighbour, ToolFacts
from graph.links import Feed, Substitute


@dataclass(frozen=True, slots=True)
class Around:
    """A node with what joins it to others; see the methods of a store that give one of these alone.

    ``document``: None where it has none. ``out``: the edges out of it, by target. ``into``: those into it, by source. ``feeds``: what can
    fill its parameters. ``substitutes``: what can do its job. The last two are best first.
    """

    facts: ToolFacts
    document: ToolDoc | None = None
    out: Sequence[Neighbour] = ()
    into: Sequence[Edge] = ()
    feeds: Sequence[Feed] = ()
    substitutes: Sequence[Substitute] = ()
