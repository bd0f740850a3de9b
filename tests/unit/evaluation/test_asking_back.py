"""What is asked back: the user who answers, the choices that are put, and what the figures say of both."""

import pytest

from agent.user_questions import UserQuestion
from evaluation.answers import AnswerEvaluation, report
from evaluation.clarification import NOTHING_TO_ADD, ClarificationQuestion, SimulatedUser, has_right_choices
from evaluation.correctness import AnswerVerdict, judge
from evaluation.evaluation_cases import ClarificationNeed, EvaluationCase
from tests.unit.evaluation.asking import asked, right_run

THREE = ClarificationNeed(
    answer="The one in Oskvik.",
    fits=(("con_1", "Oskvik", "+801 1"), ("con_2", "Rioseda", "+803 2"), ("con_3", "Indranagar", "+807 3")),
)
RIGHT = ("Oswin Brennick (Oskvik)", "Oswin Brennick, con_2", "The Brennick with +807 3")


def test_choices_are_right_where_each_thing_has_one() -> None:
    assert has_right_choices(THREE, RIGHT)
    assert has_right_choices(THREE, RIGHT[::-1]), "in any order"


@pytest.mark.parametrize(
    "choices",
    [
        (),
        RIGHT[:2],
        (*RIGHT, "Oswin Brennick (Tarnholm)"),
        (*RIGHT, "None of them"),
        (*RIGHT[:2], "Oswin Brennick"),
        (*RIGHT[:2], RIGHT[1]),
        (*RIGHT[:1], "Rioseda or Indranagar"),
        ("con_11", *RIGHT[1:]),
    ],
    ids=["none", "one left out", "one too many", "what is no thing", "a name alone", "one twice", "two in one", "another's number"],
)  # fmt: skip
def test_others_are_not(choices: tuple[str, ...]) -> None:
    assert not has_right_choices(THREE, choices)


def test_a_day_is_known_however_it_is_written() -> None:
    dockets = ClarificationNeed(answer="D1", fits=(("D1", "2026-01-24"), ("D2", "2026-03-27")))
    assert has_right_choices(dockets, ("the one promised for 24 January 2026", "27.3.2026"))
    assert not has_right_choices(dockets, ("24 January 2025", "27.3.2026"))


@pytest.mark.parametrize(
    ("asking", "choices", "said"),
    [
        (THREE, RIGHT, RIGHT[0]),
        (THREE, RIGHT[1:], "The one in Oskvik."),
        (THREE, (), "The one in Oskvik."),
        (THREE, ("Oskvik", "con_1"), "The one in Oskvik."),
        (ClarificationNeed(answer="At 19:00."), ("18:00", "20:00"), "At 19:00."),
        (None, RIGHT, NOTHING_TO_ADD),
    ],
)
async def test_the_user_takes_the_choice_that_is_meant_or_says_it(
    asking: ClarificationNeed | None, choices: tuple[str, ...], said: str
) -> None:
    user = SimulatedUser(asking)
    assert await user.answer(UserQuestion("1", "Which one?", choices)) == said
    assert user.questions == [ClarificationQuestion(question="Which one?", choices=choices, answer=said)]


def verdict(ask: ClarificationNeed | None, *questions: tuple[str, ...]) -> AnswerVerdict:
    one: EvaluationCase = asked(name=str(id(questions))).model_copy(update={"ask": ask})
    put = tuple(ClarificationQuestion(question="Which?", choices=choices) for choices in questions)
    return judge(one, right_run(), questions=put)


def test_figures_tell_what_was_asked_once_rightly_and_needlessly() -> None:
    missing = ClarificationNeed(answer="At 19:00.")
    verdicts = (
        verdict(THREE, RIGHT), verdict(THREE, RIGHT[:2]), verdict(THREE, RIGHT, ()), verdict(THREE),
        verdict(missing, ()), verdict(None), verdict(None, RIGHT),
    )  # fmt: skip
    (found,) = report(AnswerEvaluation(verdicts))["asking"].values()
    assert found["asked"] == {"none": 2, "once": 4, "more": 1}
    assert found["needed"] == {"n": 5, "once": 3, "of_several": 4, "right_choices": 2}
    assert found["needless"] == 1
