"""Without a model, what a run worked out is taken again: with other values, within a conversation, and not where its user has said that it is wrong."""

from collections.abc import Iterator

import pytest

from domain.event import EventRecord, ProgramEnded, RunFinished, SolutionTaken
from tests.support.playground_process import running_playground
from tests.support.server_process import INHABITANTS, Client, Place, built, registered, serving

pytestmark = pytest.mark.timeout(240)
OTHER = "How many inhabitants does Oskvik have?"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with running_playground() as address:
        yield built(tmp_path_factory.mktemp("place"), address)


@pytest.fixture(scope="module")
def ada(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(place, tmp_path_factory.mktemp("home")) as (address, _):
        yield registered(address)


def asked(who: Client, request: str, conversation: str = "") -> tuple[str, str, list[EventRecord]]:
    where = conversation or who.call("POST", "/conversations", {}).json()["id"]
    run = who.call("POST", f"/conversations/{where}/runs", {"request": request}).json()["id"]
    return where, run, who.follow(run)


def end(records: list[EventRecord]) -> RunFinished:
    last = records[-1].event
    assert isinstance(last, RunFinished)
    return last


def took(records: list[EventRecord]) -> list[SolutionTaken]:
    return [record.event for record in records if isinstance(record.event, SolutionTaken)]


def test_what_was_worked_out_is_taken_again_and_not_where_it_is_wrong(ada: Client) -> None:
    conversation, _, records = asked(ada, INHABITANTS)
    assert (took(records), end(records).outcome) == ([], "answered")
    for where in ("", conversation):
        _, run, records = asked(ada, OTHER, where)
        (taken,) = took(records)
        assert (taken.how, list(taken.values.values())) == ("plain", ["Oskvik"])
        assert (end(records).outcome, end(records).usage.considered) == ("answered", 0)
    assert ada.call("PUT", f"/runs/{run}/verdict", {"verdict": "wrong"}).status_code == 200
    for where in ("", conversation):
        _, _, records = asked(ada, OTHER.lower().replace("oskvik", "Oskvik"), where)
        assert took(records) == []
        assert (end(records).outcome, "you said that this answer is wrong" in end(records).answer) == ("gave_up", True)
    _, _, records = asked(ada, INHABITANTS, conversation)
    assert end(records).outcome == "answered"


def test_rules_write_for_a_question_that_goes_on_from_nothing(ada: Client) -> None:
    conversation, _, _ = asked(ada, "Which public holidays does Caldera have in 2026?")
    _, _, records = asked(ada, "What is the capital of Marovia?", conversation)
    assert [record.event.verdict for record in records if isinstance(record.event, ProgramEnded)] == ["yes"]
