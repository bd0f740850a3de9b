"""Find which of a request's filters (most, bound, flag, number) no call applied to the things that were found."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from pydantic.types import JsonValue

from agent.execution.error_bodies import is_empty
from agent.parameters.needs import need_of
from agent.policy.protocol import Results
from agent.text import clean, shown, title
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.identifiers import text_words, words
from offline.list_filter import Thing, beyond_bound, things_of
from offline.nlp.gazetteer import word_set
from offline.nlp.superlatives import Rank, ranked, ranks
from offline.response_summary import leaves_of
from offline.sentences.kinds import head_of

_WHICH = re.compile(r"\b(?:which|who|what|list|show)\b", re.I)
_ORDERS = word_set(
    "sort order rank top best latest newest nearest closest cheapest popular recent limit by max min most least"
)
"""Words in names of tools or parameters that sort things."""
_NUMBERED = frozenset({"identifier", "number", "integer"})


def not_sifted(request: str, steps: Results) -> tuple[str, ...]:
    """Find the filters of a request that nothing applied to a list that was found, a phrase each."""
    good = [(tool, result) for tool, result in steps if result.status == "ok"]
    found: list[str] = []
    gone_by: set[Rank] = set()
    for at, (tool, result) in enumerate(good):
        things = things_of(result)
        if things is None:
            continue
        later = [other for _, other in good[at + 1 :]]
        for rank, field in _extremes(request, tool, result, things, later):
            if not field:
                gone_by.add(rank)
            elif rank not in gone_by:
                found.append(f"the {'most' if rank.most else 'least'} by {field}")
        if beyond_bound(request, things):
            found.append("the bound that the request sets")
        found += [f"only what is {name}" for name in _untested(request, result, things)]
    return tuple(dict.fromkeys(found))


def _extremes(
    request: str, tool: ToolDoc, result: StepResult, things: Sequence[Thing], later: Sequence[StepResult]
) -> Iterator[tuple[Rank, str]]:
    """Yield the superlatives that could rank a list, each with the field to rank by.

    The field is empty if a later call took the first item by one of the fields.
    """
    if _ORDERS & (text_words(tool.api) | {word for name in result.arguments for word in words(name)}):
        return
    fields: list[Mapping[str, JsonValue]] = [
        {name: value for name, value in leaves_of(thing) if words(name)[-1:] != ("id",)} for thing in things
    ]
    names = dict.fromkeys(name for values in fields for name in values)
    for rank in ranks(request):
        best = ranked(fields, rank)
        if best is None:
            continue
        by_each = [
            ranked([{name: values[name]} if name in values else {} for values in fields], rank) for name in names
        ]
        went_by = any(one is not None and _taken(one[0], things, later) for one in by_each)
        yield rank, "" if went_by else clean(" ".join(words(best[1].rpartition(".")[2])), 60)


def _taken(at: int, things: Sequence[Thing], later: Sequence[StepResult]) -> bool:
    """Return whether a later call was given a value of this item that no other item has."""
    own = [value for _, value in leaves_of(things[at])]
    others = [value for place, other in enumerate(things) if place != at for _, value in leaves_of(other)]
    return any(value in own and value not in others for one in later for value in one.arguments.values())


def _untested(request: str, result: StepResult, things: Sequence[Thing]) -> Iterator[str]:
    """Yield the flags that a request asks for and only some of the items have: which rooms are free?"""
    if not _WHICH.search(request):
        return
    said = text_words(request)
    told = frozenset(word for name in result.arguments for word in words(name))
    for name in things[0]:
        own = frozenset(words(name))
        values = {value for thing in things if isinstance(value := thing.get(name), bool)}
        if own and own <= said and len(values) == 2 and not own <= told:
            yield clean(" ".join(words(name)), 60)


def elsewhere_than_asked(steps: Results) -> Iterator[str]:
    """Yield a sentence for each thing named by number that is unknown, where calls continued with others."""
    good = [(tool, result) for tool, result in steps if result.status == "ok"]
    for tool, result in steps:
        if result.outcome not in ("absent", "undecided"):
            continue
        known = {one.name: one for one in tool.parameters}
        for binding in result.provenance:
            value = result.arguments.get(binding.parameter)
            parameter = known.get(binding.parameter)
            if binding.origin != "request" or parameter is None or not _is_plain(value):
                continue
            if (
                need_of(parameter).kind in _NUMBERED
                and good
                and not any(value in one.arguments.values() for _, one in good)
            ):
                noun = " ".join(words(binding.parameter)[:-1]) or clean(binding.parameter, 60)
                yield f"{title(tool)} knows no {clean(noun, 60)} {shown(value, 60)}"


def _is_plain(value: JsonValue) -> TypeGuard[str | int | float]:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def none_there(request: str, steps: Results) -> str:
    """Return the tool's title if a read without arguments gave an empty list of what is asked; else empty."""
    said = text_words(request)
    for tool, result in steps:
        empty = tool.safe and result.outcome == "ok" and not result.arguments and is_empty(result.response)
        if empty and "[]" in result.response.replace(" ", "") and head_of(tool.api) & said:
            return title(tool)
    return ""
