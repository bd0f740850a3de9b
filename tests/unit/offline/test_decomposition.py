"""What the rules split, and what they leave together."""

import pytest

from agent.policy.subtasks import AskedPart, DecomposeQuestion
from domain.tool import ToolId, tool_id
from offline.decomposition import decomposed
from offline.nlp.clauses import asks
from offline.reflection import reflected
from tests.contract.policy import reflection
from tests.flows.small_world import GEOCODE, NEW_WEATHER, REMOVE

NEAR = {
    "weather": "Weather",
    "pages": "Books",
    "author": "Books",
    "convert": "Money",
    "people": "Places",
    "book a": "Tables",
}


def found(text: str, score: float = 0.7) -> tuple[tuple[ToolId, float], ...]:
    kinds = [kind for word, kind in NEAR.items() if word in text.lower()]
    return tuple((tool_id(kind, f"{kind} Set", f"tool{n}"), score) for kind in kinds for n in range(2))


def split(request: str, score: float = 0.7) -> list[str]:
    parts = tuple(AskedPart(one.text, found(one.text, score)) for one in asks(request))
    assert len(parts) > 1, "or else there is nothing to decide"
    return [one.description for one in decomposed(DecomposeQuestion(request, parts)).subtasks]


@pytest.mark.parametrize(
    ("request_", "descriptions"),
    [
        ('What is the weather in Paris, and how many pages has the book "Dune"?',
         ["What is the weather in Paris", 'how many pages has the book "Dune"']),
        ('What is the weather in Oslo? Convert 5 km to miles. Who is the author of "Dune"? Convert 7 kg to pounds.',
         ["What is the weather in Oslo", "Convert 5 km to miles; Convert 7 kg to pounds", 'Who is the author of "Dune"']),
        ("How many people are there in Oslo, and how many pages has Jane Doe put into her novel?",
         ["How many people are there in Oslo", "how many pages has Jane Doe put into her novel"]),
        ("My evening: what is the weather in Oslo, and how many pages has one volume of Dune?",
         ["what is the weather in Oslo", "how many pages has one volume of Dune"]),
    ],
    ids=["two", "three, two of a kind", "a pronoun behind its name", "a heading"],
)  # fmt: skip
def test_what_has_nothing_in_common_is_split(request_: str, descriptions: list[str]) -> None:
    assert split(request_) == descriptions


@pytest.mark.parametrize(
    "request_",
    [
        "What is the weather in Paris, and how many people live in Paris?",
        "What is the weather in Paris? Book a table there for 3 people.",
        "I am going to Paris. What is the weather in Oslo, and how many pages has Dune?",
        'Who is the author of "Dune"? How many pages has "Emma"?',
        "What is the weather in Paris, and how many pages has the book?",
    ],
    ids=["a value in common", "a reference", "told beforehand", "one kind of tool", "a part without a value"],
)
def test_what_hangs_together_stays_together(request_: str) -> None:
    assert split(request_) == [request_]


def test_a_part_that_no_tool_is_near_to_is_no_task_of_its_own() -> None:
    request = "What is the weather in Paris, and how many pages has Dune?"
    assert split(request, score=0.3) == [request]


def test_a_path_is_wrong_from_the_step_that_cannot_be_called() -> None:
    assert reflected(reflection(GEOCODE, NEW_WEATHER)).verdict == "success"
    lacking = reflected(reflection(NEW_WEATHER))
    assert (lacking.verdict, lacking.first_wrong) == ("partial", 1)
    assert "latitude, longitude" in lacking.reason
    changing = reflected(reflection(GEOCODE, REMOVE))
    assert (changing.verdict, changing.first_wrong) == ("partial", 2)


def test_giving_up_is_not_begun_again_by_the_same_rules() -> None:
    given_up = reflected(reflection(how="gave_up"))
    assert (given_up.verdict, given_up.noisy) == ("total", ())
