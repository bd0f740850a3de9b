"""SoAyEval: which of the five cases a run is, what a right answer is, and the figures."""

import pytest

from domain.program import Program
from domain.tool import ToolId
from evaluation.evaluation_cases import ExpectedValues
from evaluation.meaning.comparison import ProgramMeaning, derive_meaning
from evaluation.soay import (
    CASES,
    Case,
    SoayQuestion,
    SoayVerdict,
    classify_case,
    compute_score,
    compute_soay_figures,
    explain_wrong_answer,
)

GOLD = 'people = await searchPerson(name=name)\npubs = await getPersonPubs(person_id=people[0]["person_id"])\npubs[0]["year"]'
TOOLS = {name: ToolId(f"scholar/{name}") for name in ("searchPerson", "getPersonPubs", "getCoauthors")}


def program(text: str) -> Program:
    return Program(text=text, tools=TOOLS)


def meaning(text: str) -> ProgramMeaning:
    return derive_meaning([program(text)], {"name": "Dagny Abernathy"})


def question(**changes: object) -> SoayQuestion:
    fields = {"id": "q", "template": 15, "place": 1, "hops": 2, "request": "In which year?", "program": program(GOLD), "values": {"name": "Dagny Abernathy"}, "expect": ExpectedValues(numbers=(2014,))}  # fmt: skip
    return SoayQuestion.model_validate({**fields, **changes})


@pytest.mark.parametrize(
    ("text", "answered", "right", "case"),
    [
        (GOLD.replace("people", "found"), True, True, "EM"),
        (GOLD.replace('["year"]', '["year"] + 0'), True, True, "DS"),
        (GOLD.replace("getPersonPubs", "getCoauthors"), True, True, "DS"),
        (GOLD.replace('pubs[0]["year"]', 'pubs[0]["num_citation"]'), True, False, "WP"),
        (GOLD.replace("people[0]", "people[-1]"), True, False, "WP"),
        (GOLD.replace("getPersonPubs", "getCoauthors"), True, False, "WS"),
        ('people = await searchPerson(name=name)\npeople[0]["year"]', True, False, "WS"),
        (GOLD, False, False, "EE"),
        ("", True, False, "WS"),
    ],
)
def test_the_five_cases(text: str, answered: bool, right: bool, case: Case) -> None:
    assert classify_case(meaning(text), meaning(GOLD), answered=answered, right=right) == case


@pytest.mark.parametrize("answer", ["2014", "It was published in 2014.", "《…》发表于2014年。"])
def test_a_number_is_stated_in_any_phrase(answer: str) -> None:
    assert explain_wrong_answer(question(), answer) == ""


@pytest.mark.parametrize("answer", ["", "2015", "20145", "2014, 2015, 2016, 2017, 2018", "2014 " * 2_000])
def test_a_number_must_be_there_and_not_one_of_many(answer: str) -> None:
    assert explain_wrong_answer(question(), answer)


def test_a_list_is_all_that_belongs_to_it_and_nothing_else() -> None:
    asked = question(expect=ExpectedValues(texts=(("Ash Grove",), ("Oak",))), others=("Elm",))
    assert explain_wrong_answer(asked, "oak and ash grove") == ""
    assert "Ash Grove" in explain_wrong_answer(asked, "Oak")
    assert "Elm" in explain_wrong_answer(asked, "Oak, Elm, Ash Grove")


def test_where_the_data_leaves_several_right_answers_one_will_do() -> None:
    asked = question(expect=ExpectedValues(texts=(("female", "woman", "女"),)))
    assert explain_wrong_answer(asked, "She is a woman.") == explain_wrong_answer(asked, "女") == ""
    assert explain_wrong_answer(asked, "male")


def verdict(hops: int, place: int, case: Case) -> SoayVerdict:
    return SoayVerdict(id=f"{hops}-{place}-{case}", template=hops, place=place, hops=hops, request="", case=case)


def test_the_cases_sum_to_a_hundred_and_hops_weigh_as_they_are_many() -> None:
    verdicts = [
        *(verdict(1, place, "EM") for place in (1, 2)),
        *(verdict(2, place, case) for place, case in enumerate(CASES, start=1)),
        verdict(3, 1, "DS"),
        verdict(3, 2, "WP"),
    ]
    found = compute_soay_figures(verdicts)
    for row in (*found["hops"].values(), found["all"]):
        assert sum(row[case]["share"] for case in CASES) == pytest.approx(100)
        assert row["ACC"]["share"] == pytest.approx(row["EM"]["share"] + row["DS"]["share"])
    assert found["score"] == pytest.approx((100 + 2 * 40 + 3 * 50) / 6)
    assert len(found["missed"]) == 6


def test_the_papers_scores_come_out_of_its_accuracies() -> None:
    assert compute_score([95.83, 87.37, 82.94]) == pytest.approx(86.57, abs=0.01)
    assert compute_score([98.61, 83.08, 97.22]) == pytest.approx(92.74, abs=0.01)
    assert compute_score([65.28, 57.32, 56.35]) == pytest.approx(58.16, abs=0.01)
    assert compute_score([100.0, None, 100.0]) is None


def test_the_deviation_is_over_entities() -> None:
    even = [verdict(1, place, case) for place in (1, 2) for case in ("EM", "EE")]
    uneven = [verdict(1, 1, "EM"), verdict(1, 1, "EM"), verdict(1, 2, "EE"), verdict(1, 2, "EE")]
    assert compute_soay_figures(even)["hops"]["1"]["ACC"] == {"share": 50, "deviation": 0}
    assert compute_soay_figures(uneven)["hops"]["1"]["ACC"] == {"share": 50, "deviation": 50}
