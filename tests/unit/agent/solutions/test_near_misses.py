"""Requests that only look alike are none that a solution may be taken for without a model; and neither rules nor a careless model let them pass."""

import json
import re

import pytest

from agent.plans.parameterization import infer_value_schema
from agent.plans.request_words import RequestWords, insert_placeholders
from agent.solutions.patterns import QUOTATION, list_inputs
from agent.solutions.plain_values import SHAPE_KEYWORD, describe_shape
from agent.solutions.protocol import FillQuestion
from agent.solutions.selection import find_unaccounted_values, read_request_values
from domain.model import JsonObject
from offline.solution_reuse import fill_inputs
from playground.near_misses import NEAR_MISSES, near_misses
from playground.paraphrases import FIRST, lines, pairs

NAMES = {"money": ("sum", "have", "want"), "weekday": ("day",)}
WORDINGS = {
    "population": "{What is|What's|Tell me|Give me} {|the number of inhabitants or} the {population|number of inhabitants} of {|the city of }{value}?",
    "temperature": "{What is|What's|Tell me} the {|current }temperature in {value} {|right now|at the moment}?",
    "money": "{Please |}{convert|change} {sum} {have} {to|into} {want}.",
    "pages": 'How many pages {does|are there in} the book "{value}" {have|}?',
}
"""As a model writes them."""


def learnt() -> list[tuple[str, str, dict[str, JsonObject]]]:
    """Kind, pattern and inputs of what the first fifty requests teach."""
    found: list[tuple[str, str, dict[str, JsonObject]]] = []
    for one in pairs()[0]:
        kind = str(one["id"]).rpartition("-")[0]
        said = [str(value) for value in one["entities"]]
        names = NAMES.get(kind, ("value",))
        pattern = insert_placeholders(
            str(one["request"]), [RequestWords(words, name) for words, name in zip(said, names, strict=True)]
        )
        quoted = {hit[hit.lastindex or 0] for hit in QUOTATION.finditer(str(one["request"]))}
        inputs: dict[str, JsonObject] = {}
        for name, words in zip(names, said, strict=True):
            value = float(words) if name == "sum" else words
            inputs[name] = {
                **infer_value_schema(None, name, value),
                SHAPE_KEYWORD: describe_shape(value, quoted=words in quoted),
            }
        found.append((kind, pattern, inputs))
        if kind in WORDINGS:
            found.append((kind, WORDINGS[kind], inputs))
    return found


def test_the_file_is_what_is_made() -> None:
    assert NEAR_MISSES.read_bytes() == lines(list(near_misses()))
    assert FIRST.exists()


@pytest.mark.parametrize("request_text", [str(one["request"]) for one in near_misses()])
def test_a_near_miss_is_taken_by_nothing_that_is_not_asked(request_text: str) -> None:
    for _, pattern, inputs in learnt():
        assert read_request_values(request_text, pattern, inputs) is None, pattern
        assert not fill_inputs(FillQuestion(request_text, pattern, inputs, "2026-11-23", {})).fits, pattern


def test_what_is_asked_of_another_thing_is_taken_by_its_own_kind_alone() -> None:
    patterns = learnt()
    for one in pairs()[0]:
        kind = str(one["id"]).rpartition("-")[0]
        takes = {
            other for other, pattern, inputs in patterns if read_request_values(str(one["request"]), pattern, inputs)
        }
        assert takes == {kind}


def test_paraphrases_are_taken_by_their_own_kind_or_by_none() -> None:
    patterns, taken = learnt(), 0
    for one in pairs()[1]:
        kind = re.sub(r"-again-\d+$", "", str(one["id"]))
        takes = {
            other for other, pattern, inputs in patterns if read_request_values(str(one["request"]), pattern, inputs)
        }
        assert takes <= {kind}, one["request"]
        fits = {
            k for k, p, i in patterns if fill_inputs(FillQuestion(str(one["request"]), p, i, "2026-11-23", {})).fits
        }
        assert fits <= {kind}, one["request"]
        taken += bool(takes)
    assert taken > 0


def test_figures_and_quotations_that_nothing_took_keep_a_solution_from_being_taken() -> None:
    asked = 'How many inhabitants did Oslo have in 1990 by "Statistics"?'
    assert find_unaccounted_values(asked, "How many inhabitants does {city} have?", {"city": "Oslo"}) == [
        "1990",
        "Statistics",
    ]
    assert not find_unaccounted_values(
        "Which weekday was 9 March 2001?", "Which weekday was {day}?", {"day": "2001-03-09"}
    )
    assert json.loads(json.dumps(list_inputs("{a|b} {name} {other}"))) == ["name", "other"]
