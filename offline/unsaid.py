"""What a path leaves unsaid: words of the request that no field of its tools answers to, and a tool that can be called next and does."""

from collections.abc import Sequence

from agent.policy.protocol import Situation
from domain.tool import ToolDoc
from graph.identifiers import words
from graph.response_fields import output_fields
from offline.change_words import may_call
from offline.coverage import telling
from offline.nlp.asked_words import match
from offline.routes import Missing, Route, route

Groups = Sequence[frozenset[str]]


def unsaid(situation: Situation) -> list[frozenset[str]]:
    """The telling words of the request, each with what it may stand for, that neither names nor fields of the path's tools know."""
    asked = dict.fromkeys(group for clause in situation.clauses for group in telling(clause))
    return [group for group in asked if not any(speaks(tool, group) for tool in situation.path)]


def onward(situation: Situation, missing: Missing) -> Route | None:
    """The way to a tool that answers to most of what is unsaid, and takes something from the path; None where there is none.

    It must be a safe one: what is unsaid is a reason to look further, never to change anything.
    """
    open_words = unsaid(situation)
    if not open_words or not situation.path:
        return None
    usable = [c for c in situation.candidates if c.tool.safe and may_call(c.tool, situation.request)]
    best: tuple[tuple[int, float], Route] | None = None
    for candidate in usable:
        said = sum(answers(candidate.tool, group) for group in open_words)
        way = route(candidate, situation.path, usable, missing) if said else None
        if way is not None and way.first.feeds_from:
            worth = (said, max(candidate.relevance, default=0.0) - 0.1 * len(way.steps))
            if best is None or worth > best[0]:
                best = (worth, way)
    return best[1] if best else None


def answers(tool: ToolDoc, group: frozenset[str]) -> bool:
    """Whether a field of the tool's response is named by one of the words."""
    return any(match(field.name, group) for field in output_fields(tool))


def speaks(tool: ToolDoc, group: frozenset[str]) -> bool:
    """Whether a tool's names, parameters or fields know one of the words."""
    named = {*words(tool.api), *words(tool.toolset)}
    named |= {word for parameter in tool.parameters for word in words(parameter.name)}
    named |= {word for field in output_fields(tool) for word in field.holder}
    return bool(group & named) or answers(tool, group)
