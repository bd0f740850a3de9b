"""Verdicts on what a client's agent answered, by what the services answered it; kept and gone on with."""

from pathlib import Path
from typing import Any

import pytest

from domain.errors import BrokenInputError, UsageError
from evaluation.client_agent import ClientRun
from evaluation.client_runs import (
    ClientRunFile,
    ClientRunRecord,
    ServiceAnswer,
    compute_client_figures,
    judge_client_run,
)
from evaluation.evaluation_cases import EvaluationCase, ServiceChange

UNDER: dict[str, Any] = {"tools": "plain", "model": "rules"}
ASKED = EvaluationCase.model_validate(
    {
        "id": "inhabitants",
        "request": "How many live there?",
        "calls": [{"operation": "search_places"}],
        "expect": {"numbers": [278640]},
    }
)
NOT_THERE = EvaluationCase(
    id="nowhere", request="How warm is it in Nowhere?", answerable=False, why="There is no such city."
)
HEARD = ServiceAnswer(operation="search_places", status=200, body='{"population": 278640}')


def run(**given: Any) -> ClientRun:
    usual: dict[str, Any] = {
        "outcome": "answered",
        "answer": "278,640",
        "replies": 2,
        "calls": ["search_places"],
        "prompt_tokens": 90,
    }
    return ClientRun(**{**usual, **given})


def verdict(
    given: ClientRun, *heard: ServiceAnswer, made: tuple[ServiceChange, ...] = (), asked: EvaluationCase = ASKED
) -> ClientRunRecord:
    return judge_client_run(asked, given, heard, made, UNDER)


def test_right_is_what_is_stated_and_was_heard() -> None:
    found = verdict(run(), HEARD)
    assert found.cause is None
    assert found.path == ("search_places",)


def test_a_value_that_no_service_gave_is_wrong() -> None:
    assert verdict(run()).cause == "value not from a response"
    refused = ServiceAnswer(operation="search_places", status=503, body=HEARD.body)
    assert verdict(run(), refused).cause == "value not from a response"


def test_a_change_that_nobody_asked_for_is_wrong() -> None:
    assert verdict(run(), HEARD, made=(ServiceChange(operation="place_order"),)).cause == "unasked change"


def test_what_cannot_be_answered_has_to_be_said_so() -> None:
    assert verdict(run(outcome="gave_up", answer="No such city."), asked=NOT_THERE).cause is None
    assert verdict(run(answer="12 degrees"), asked=NOT_THERE).cause == "answered the unanswerable"
    assert verdict(run(outcome="budget", answer=""), HEARD).cause == "budget"


def test_figures_are_of_all_runs() -> None:
    figures = compute_client_figures(
        [verdict(run(), HEARD), verdict(run(answer="none", replies=4, calls=["a", "a"]), HEARD)]
    )
    assert (figures["n"], figures["right"]) == (2, 1)
    assert figures["replies"] == {"all": 6, "p50": 3, "mean": 3, "max": 4}
    assert figures["tool_calls"]["of"] == {"a": 2, "search_places": 1}
    assert [one["cause"] for one in figures["failures"]] == ["answer lacks value"]
    assert compute_client_figures([])["right"] == 0


def test_runs_are_kept_and_read_again(tmp_path: Path) -> None:
    file = ClientRunFile(tmp_path / "kept" / "runs.jsonl", UNDER)
    assert file.read([ASKED]) == {}
    file.add(verdict(run(said=[("user", "How many?")]), HEARD))
    assert file.read([ASKED]) == {"inhabitants": verdict(run(said=[("user", "How many?")]), HEARD)}
    assert file.read([NOT_THERE]) == {}


def test_runs_of_other_conditions_or_broken_lines_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    ClientRunFile(path, UNDER).add(verdict(run(), HEARD))
    with pytest.raises(UsageError, match="other conditions"):
        ClientRunFile(path, {**UNDER, "tools": "footpath"}).read([ASKED])
    path.write_text('{"id": 1}\n')
    with pytest.raises(BrokenInputError):
        ClientRunFile(path, UNDER).read([ASKED])
