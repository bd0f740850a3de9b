"""What one plan does otherwise than another: all of it, in words."""

from typing import Any

from agent.plans.plan_differences import compare_documents
from domain.plan import PlanDocument

FIND = {"tool": "places/search/find", "arguments": {"city": "Oslo"}}
SEND = {"tool": "money/pay/send", "takes": {"to": {"step": 1, "field": "results[0].id"}}}
TELL = {"tool": "mail/box/tell", "named": {"text": "text"}}


def said(before: list[Any], after: list[Any], **parameters: Any) -> list[str]:
    old = PlanDocument.model_validate({"steps": before, "parameters": parameters.get("old", {})})
    new = PlanDocument.model_validate({"steps": after, "parameters": parameters.get("new", {})})
    return [one.said for one in compare_documents(old, new)]


def test_the_same_is_told_as_nothing() -> None:
    assert said([FIND, SEND], [FIND, SEND]) == []


def test_a_step_that_comes_between_moves_no_other() -> None:
    moved = SEND | {"takes": {"to": {"step": 2, "field": "results[0].id"}}}
    assert said([FIND, SEND], [TELL, FIND, moved]) == [
        "Step 1 is new: it calls mail/box/tell with text = the template's text."
    ]


def test_a_value_from_another_step_is_told_though_the_number_stayed() -> None:
    told = said([FIND, SEND], [TELL, FIND, SEND])
    assert told[1:] == [
        "Step 3 (send): to is what step 1 gave at results[0].id instead of what step 2 gave at results[0].id."
    ]


def test_steps_that_are_gone_and_values_that_came() -> None:
    assert said([FIND, SEND, TELL], [FIND | {"arguments": {"city": "Oslo", "limit": 3}}, TELL]) == [
        "Step 1 (find): limit is 3; it was left open.",
        "Step 2 is gone: it called money/pay/send with to = what step 1 gave at results[0].id.",
    ]


def test_long_values_are_shown_where_they_differ() -> None:
    (told,) = said(
        [FIND | {"arguments": {"city": "x" * 5_000 + "a"}}], [FIND | {"arguments": {"city": "x" * 5_000 + "b"}}]
    )
    assert 'xb" instead of …' in told
    assert len(told) < 500


def test_values_that_look_alike_are_told_apart() -> None:
    (told,) = said([FIND], [FIND | {"arguments": {"city": "Os\u200blo"}}])
    assert "\\u200b" in told
    assert len(said([FIND | {"arguments": {"city": 1}}], [FIND | {"arguments": {"city": True}}])) == 1


def test_parameters_of_its_own() -> None:
    told = said(
        [TELL],
        [TELL],
        old={"text": {"type": "string"}, "a": {}},
        new={"text": {"type": "string", "default": "x"}, "b": {}},
    )
    assert told == [
        'What text may be is {"type": "string", "default": "x"} instead of {"type": "string"}.',
        "It asks for a no more.",
        "It asks for b as well.",
    ]
