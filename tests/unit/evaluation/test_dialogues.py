"""Dialogues: how their lines are read, how a turn is judged that goes by what those before it found, and what is told of them."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from domain.errors import BrokenInputError
from domain.event import CallFinished, Event, ProgramStarted
from domain.plan import Binding
from domain.program import Program
from evaluation.answers import AnswerEvaluation, report
from evaluation.correctness import judge
from evaluation.evaluation_cases import EvaluationCase, ExpectedValues, group_conversations, read_evaluation_cases
from tests.unit.evaluation.asking import asked, call, end, right_run

TURN = {"request": "How warm is it?", "program": "{}", "expect": {"numbers": [9.6]}}
TALK = {"id": "warm", "service": "workshop", "turns": [TURN, {**TURN, "request": "And there?", "fresh": True}]}
ALONE = {"id": "alone", **TURN}


def write(path: Path, *lines: Any) -> Path:
    path.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    return path


def test_a_line_of_turns_is_as_many_requests(tmp_path: Path) -> None:
    found = read_evaluation_cases([write(tmp_path / "german.jsonl", ALONE, TALK)])
    assert [(one.id, one.dialogue, one.turn, one.service, one.group, one.fresh) for one in found] == [
        ("alone", "", 0, "playground", "german", False),
        ("warm.1", "warm", 1, "workshop", "german", False),
        ("warm.2", "warm", 2, "workshop", "german", True),
    ]
    assert [[one.id for one in talk] for talk in group_conversations(found)] == [["alone"], ["warm.1", "warm.2"]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ({"id": "b", "turns": [TURN]}, "turns"),
        ({"id": "b", "turns": [TURN, {"request": "And?"}]}, "needs calls"),
        ({"turns": [TURN, TURN]}, "id"),
    ],
)
def test_a_dialogue_that_cannot_be_used_is_named(tmp_path: Path, line: object, said: str) -> None:
    with pytest.raises(BrokenInputError, match=said):
        read_evaluation_cases([write(tmp_path / "one.jsonl", ALONE, line)])


def test_a_turn_may_go_by_what_was_found_before_it() -> None:
    heard = [call("weather", '{"temperature": 9.6}').result]
    said: list[Event] = [end("Still 9.6 °C.")]
    assert judge(asked(), said).cause == "value not from a response"
    found = judge(asked(), said, earlier_calls=heard)
    assert (found.cause, found.path) == (None, ()), "the calls before it are not its own"
    assert judge(asked(), [end("8 °C")], earlier_calls=heard).cause == "answer lacks value"


def test_another_subject_uses_nothing_of_the_one_before() -> None:
    fresh = asked().model_copy(update={"fresh": True})
    finished = right_run()[0]
    assert isinstance(finished, CallFinished)
    taken = Binding(parameter="city", origin="step", reference="earlier.1.results[0].city")
    going_back = finished.model_copy(update={"result": finished.result.model_copy(update={"provenance": (taken,)})})
    naming = ProgramStarted(number=1, program=Program(text="x = earlier[0]\nx", tools={}))
    last = right_run()[1]
    assert judge(fresh, right_run()).right
    assert judge(fresh, [going_back, last]).cause == "used what was before"
    assert judge(fresh, [naming, *right_run()]).detail == "earlier"
    assert judge(asked(), [naming, going_back, last]).right, "others may"
    speaking = ProgramStarted(number=1, program=Program(text="x = 'earlier'\nx", tools={}))
    assert judge(fresh, [speaking, *right_run()]).right


def turn(talk: str, number: int, *, right: bool = True) -> Any:
    one = EvaluationCase(
        id=f"{talk}.{number}", request="?", program="{}", expect=ExpectedValues(numbers=(9.6,)), group="german",
        dialogue=talk, turn=number,
    )  # fmt: skip
    return judge(one, right_run() if right else [end("", "gave_up")])


def test_figures_are_told_by_turn_and_by_dialogue() -> None:
    verdicts = (turn("a", 1), turn("a", 2), turn("b", 1), turn("b", 2, right=False), turn("b", 3))
    found = report(AnswerEvaluation((*verdicts, judge(asked(), right_run()))))["turns"]
    assert list(found) == ["german"]
    assert {number: (row["n"], row["right"]) for number, row in found["german"]["turns"].items()} == {
        "1": (2, 2), "2": (2, 1), "3": (1, 1),
    }  # fmt: skip
    assert found["german"]["turns"]["1"]["model_calls"] == {"p50": 2, "mean": 2, "max": 2}
    assert found["german"]["whole"] == {"n": 2, "right": 1}
