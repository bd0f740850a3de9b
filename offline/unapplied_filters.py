"""Find which of a request's filters (most, bound, flag, number) no call applied to the things that were found."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from pydantic.types import JsonValue

from agent.execution.error_bodies import is_empty_response
from agent.parameter_needs import derive_need
from agent.policy.protocol import Results
from agent.text import clean_text, format_scalar, format_tool_title
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.identifiers import extract_words, split_words
from offline.list_filter import ListItem, find_list_items, has_items_beyond_bound
from offline.nlp.gazetteer import word_set
from offline.nlp.superlatives import RankCriterion, find_extreme, find_rank_criteria
from offline.response_summary import list_leaves
from offline.sentences.kind_nouns import find_head_noun

_WHICH = re.compile(r"\b(?:which|who|what|list|show)\b", re.I)
"""Words of a question about items of a list."""
_ORDER_WORDS = word_set(
    "sort order rank top best latest newest nearest closest cheapest popular recent limit by max min most least"
)
"""Words in the names of tools and parameters that rank or limit things."""
_NUMBER_KINDS = frozenset({"identifier", "number", "integer"})
"""Kinds of parameters for which a number names a thing."""


def find_unapplied_filters(request: str, steps: Results) -> tuple[str, ...]:
    """Find the filters of a request that no call applied to a list that was found; a phrase for each."""
    successful = [(tool, result) for tool, result in steps if result.status == "ok"]
    phrases: list[str] = []
    applied_ranks: set[RankCriterion] = set()
    for at, (tool, result) in enumerate(successful):
        things = find_list_items(result)
        if things is None:
            continue
        later = [other for _, other in successful[at + 1 :]]
        for rank, field in _find_extremes(request, tool, result, things, later):
            if not field:
                applied_ranks.add(rank)
            elif rank not in applied_ranks:
                phrases.append(f"the {'most' if rank.most else 'least'} by {field}")
        if has_items_beyond_bound(request, things):
            phrases.append("the bound that the request sets")
        phrases += [f"only what is {name}" for name in _find_untested_flags(request, result, things)]
    return tuple(dict.fromkeys(phrases))


def _find_extremes(
    request: str, tool: ToolDoc, result: StepResult, things: Sequence[ListItem], later: Sequence[StepResult]
) -> Iterator[tuple[RankCriterion, str]]:
    """Yield the superlatives that could rank a list, each with the name of the field to rank by.

    The name is empty if a later call took the extreme item by one of the list's fields, so that the rank was applied.
    """
    if _ORDER_WORDS & (extract_words(tool.api) | {word for name in result.arguments for word in split_words(name)}):
        return
    values_by_item: list[Mapping[str, JsonValue]] = [
        {name: value for name, value in list_leaves(thing) if split_words(name)[-1:] != ("id",)} for thing in things
    ]
    names = dict.fromkeys(name for values in values_by_item for name in values)
    for rank in find_rank_criteria(request):
        best = find_extreme(values_by_item, rank)
        if best is None:
            continue
        extremes_by_field = [
            find_extreme([{name: values[name]} if name in values else {} for values in values_by_item], rank)
            for name in names
        ]
        is_applied = any(one is not None and _is_taken_later(one[0], things, later) for one in extremes_by_field)
        yield rank, "" if is_applied else clean_text(" ".join(split_words(best[1].rpartition(".")[2])), 60)


def _is_taken_later(at: int, things: Sequence[ListItem], later: Sequence[StepResult]) -> bool:
    """Return whether a later call took a value of this item that no other item has."""
    own_values = [value for _, value in list_leaves(things[at])]
    other_values = [value for place, other in enumerate(things) if place != at for _, value in list_leaves(other)]
    return any(value in own_values and value not in other_values for one in later for value in one.arguments.values())


def _find_untested_flags(request: str, result: StepResult, things: Sequence[ListItem]) -> Iterator[str]:
    """Yield the flags that a request asks for and only some of the items have: which rooms are *free*?"""
    if not _WHICH.search(request):
        return
    request_words = extract_words(request)
    argument_words = frozenset(word for name in result.arguments for word in split_words(name))
    for name in things[0]:
        own = frozenset(split_words(name))
        values = {value for thing in things if isinstance(value := thing.get(name), bool)}
        if own and own <= request_words and len(values) == 2 and not own <= argument_words:
            yield clean_text(" ".join(split_words(name)), 60)


def describe_unknown_numbers(steps: Results) -> Iterator[str]:
    """Yield a sentence for each number of the request that a tool did not know, if calls went on without it."""
    successful = [(tool, result) for tool, result in steps if result.status == "ok"]
    for tool, result in steps:
        if result.outcome not in ("absent", "undecided"):
            continue
        parameters = {one.name: one for one in tool.parameters}
        for binding in result.provenance:
            value = result.arguments.get(binding.parameter)
            parameter = parameters.get(binding.parameter)
            if binding.origin != "request" or parameter is None or not _is_plain(value):
                continue
            if (
                derive_need(parameter).kind in _NUMBER_KINDS
                and successful
                and not any(value in one.arguments.values() for _, one in successful)
            ):
                noun = " ".join(split_words(binding.parameter)[:-1]) or clean_text(binding.parameter, 60)
                yield f"{format_tool_title(tool)} knows no {clean_text(noun, 60)} {format_scalar(value, 60)}"


def _is_plain(value: JsonValue) -> TypeGuard[str | int | float]:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def find_empty_collection(request: str, steps: Results) -> str:
    """Return the title of a tool whose empty list answers the request; empty if there is none.

    Such a tool reads without arguments, and its name has a noun of the request.
    """
    request_words = extract_words(request)
    for tool, result in steps:
        is_empty_answer = (
            tool.safe and result.outcome == "ok" and not result.arguments and is_empty_response(result.response)
        )
        if is_empty_answer and "[]" in result.response.replace(" ", "") and find_head_noun(tool.api) & request_words:
            return format_tool_title(tool)
    return ""
