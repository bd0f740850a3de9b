"""What a failed tool was for, done by others: who gives what it gave."""

from collections.abc import Mapping, Sequence

from agent.parameters.needs import Need, need_of
from domain.tool import Parameter, ToolDoc, ToolId
from graph.substitution import renamed
from offline.nlp.gazetteer import STARTERS, word_set
from offline.nlp.synonyms import synonyms
from offline.slots.binding import fillable

MOST = 3
_ANYTHING = word_set("query text entity identifier number boolean technical secret")
"""Kinds of parameters that say nothing of what is wanted."""
_FORM = word_set(
    "name id code key query q text value number string letter beginning part first form free its it of the a an or and to in for from by e g g. "
    "example two three"
)
"""Words of how something is written down, and of every description."""


def giving_the_same(
    failed: ToolDoc, request: str, path: Sequence[ToolDoc], wanted: Sequence[ToolDoc], others: Sequence[ToolDoc]
) -> list[ToolId]:
    """Of ``others``, those that can be asked what ``failed`` was asked behind ``path`` and that a tool of ``wanted`` (the most relevant
    first) could then be called with, as it could with ``failed``; the best three.
    """
    asked = [other for other in others if other.id != failed.id and other.safe == failed.safe and _names(failed, other)]
    found: dict[ToolId, None] = {}
    for consumer in wanted:
        lacking = set(fillable(consumer, request, path).missing)
        given = lacking - set(fillable(consumer, request, (*path, failed)).missing)
        for other in asked if given else ():
            left = fillable(consumer, request, (*path, other)).missing
            if other.id != consumer.id and not given & set(left):
                found[other.id] = None
    return list(found)[:MOST]


def _names(failed: ToolDoc, other: ToolDoc) -> Mapping[str, str]:
    """The parameters of one to those of the other that mean the same; empty where one of those that are required has none."""
    fit = renamed(failed, other)
    mine, theirs = ({p.name: p for p in tool.parameters} for tool in (failed, other))
    akin = {one: two for one, two in fit[0].items() if _akin(mine[one], theirs[two])} if fit else {}
    needed = {parameter.name for parameter in other.required if parameter.default is None}
    return akin if needed <= set(akin.values()) else {}


def _akin(one: Parameter, other: Parameter) -> bool:
    """Whether two parameters want the same kind of thing: by what they are, or by a word that tells it, in a name or a description."""
    first, second = need_of(one), need_of(other)
    if first.kind == second.kind and first.kind not in _ANYTHING:
        return True
    said = {meaning for word in _telling(first) for meaning in (word, *synonyms(word))}
    return bool(said & _telling(second))


def _telling(need: Need) -> frozenset[str]:
    return (frozenset(need.words) | need.described) - _FORM - STARTERS
