"""What a request leaves open is asked: a server's run waits for the answer, over kills; the terminal asks; where nobody is there, the answer says so."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.user_questions import UserQuestion
from domain.event import EventRecord, InputNeeded, ProgramEnded, QuestionAnswered, RunFinished
from tests.flows.test_programs import RIGHT, calls
from tests.models.brain import Brain
from tests.models.openai_server import model_server_in_thread
from tests.support.playground_process import running_playground
from tests.support.program_world import code, world
from tests.support.run_deps import change_deps
from tests.support.server_process import Client, Place, built, registered, serving

pytestmark = pytest.mark.timeout(300)
REQUEST = "How many inhabitants does it have?"
TEXT = code(
    'city = await ask("Which place?", choices=["Meghalpet", "Velmora"])',
    'found = (await search_places(city=city))["results"]',
    '{"answered": "yes", "answer": f"{city} has {found[0][\'population\']} inhabitants."}',
)
MODEL = {"policy": "llm", "planner": "program"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with running_playground() as address:
        yield built(tmp_path_factory.mktemp("place"), address)


def asked(records: list[EventRecord]) -> InputNeeded:
    event = records[-1].event
    assert isinstance(event, InputNeeded)
    return event


def end(records: list[EventRecord]) -> RunFinished:
    event = records[-1].event
    assert isinstance(event, RunFinished)
    return event


def answers(client: Client, run: str, question: InputNeeded, **body: Any) -> int:
    return client.call("POST", f"/runs/{run}/inputs/{question.input}", body).status_code


@pytest.mark.parametrize("killed", [False, True])
def test_a_run_waits_for_its_answer_and_asks_once(killed: bool, place: Place, tmp_path: Path) -> None:
    brain, records = Brain(program=[TEXT]), list[EventRecord]()
    with model_server_in_thread(brain) as model:
        variables = {"FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules", "FOOTPATH_RUNS_AT_ONCE": "1"}
        with serving(place, tmp_path / "home", **variables) as (address, process):
            ada = registered(address)
            _, run = ada.ask(REQUEST, **MODEL)
            before = ada.follow(run, until="input.needed")
            question = asked(before)
            assert (question.asks, question.reason, question.choices) == (
                "question",
                "The plan asks: “Which place?”",
                ("Meghalpet", "Velmora"),
            )
            assert answers(ada, run, question, decision="allow") == 400
            assert answers(ada, run, question, decision="answer") == 400
            assert answers(ada, run, question, decision="answer", answer=2) == 400
            assert answers(ada, run, question, decision="deny", answer="Oslo") == 400
            if killed:
                process.send_signal(signal.SIGKILL)
            else:
                assert answers(ada, run, question, decision="answer", answer=0) == 200
                records = [*before, *ada.follow(run, after=before[-1].seq)]
        if killed:
            with serving(place, tmp_path / "home", **variables) as (address, _):
                ada = ada.at(address)
                assert answers(ada, run, question, decision="answer", answer="  meghalpet ") == 200
                records = [*before, *ada.follow(run, after=before[-1].seq)]
                (shown,) = ada.call("GET", f"/runs/{run}/inputs").json()
                assert (shown["decision"], shown["answer"]) == ("answer", "Meghalpet")
        assert end(records).outcome == "answered"
        assert end(records).answer.startswith("Meghalpet has ")
        told = [one.event for one in records if isinstance(one.event, QuestionAnswered)]
        assert [(one.question, one.answer) for one in told] == [("Which place?", "Meghalpet")]
        assert sum(isinstance(one.event, InputNeeded) for one in records) == 1
        assert [one.seq for one in records] == list(range(1, len(records) + 1))
        assert brain.asked.count("program") == 1


def test_a_question_that_is_not_answered_ends_the_run_and_nothing_goes_around_it(place: Place, tmp_path: Path) -> None:
    brain = Brain(program=[TEXT])
    with model_server_in_thread(brain) as model:
        variables = {"FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules"}
        with serving(place, tmp_path / "home", **variables) as (address, _):
            ada = registered(address)
            _, run = ada.ask(REQUEST, **MODEL)
            before = ada.follow(run, until="input.needed")
            assert answers(ada, run, asked(before), decision="deny") == 200
            after = ada.follow(run, after=before[-1].seq)
    assert end(after).outcome == "gave_up"
    assert "“Which place?” (Meghalpet; Velmora), and its user did not answer" in end(after).answer
    (ended,) = [one.event for one in after if isinstance(one.event, ProgramEnded)]
    assert (ended.verdict, ended.missing) == ("no", "")
    assert brain.asked == ["program"]


class Paris:
    """A user who means Paris."""

    async def answer(self, question: UserQuestion) -> str | None:
        return "Paris" if question.text else None


async def test_what_was_answered_is_known_to_a_text_that_is_written_anew(tmp_path: Path) -> None:
    wrong = code('city = await ask("Which place?")', "(await search_places(city=city))['none']")
    async with world(tmp_path, calls(), wrong, RIGHT) as made:
        made.deps = change_deps(made.deps, channel=Paris())
        records = await made.told("What is the weather forecast?")
    assert end(records).outcome == "answered"
    assert "Which place? -> Paris" in str(made.server.requests[1].messages[-1]["content"])


def test_the_offline_policy_asks_for_a_value_that_the_request_lacks(place: Place, tmp_path: Path) -> None:
    with serving(place, tmp_path / "home") as (address, _):
        ada = registered(address)
        _, run = ada.ask(REQUEST)
        before = ada.follow(run, until="input.needed")
        question = asked(before)
        assert (question.asks, question.choices) == ("question", ())
        assert "city" in question.reason
        assert answers(ada, run, question, decision="answer", answer="Meghalpet") == 200
        after = ada.follow(run, after=before[-1].seq)
    assert end(after).outcome == "answered", after
    assert sum(isinstance(one.event, InputNeeded) for one in (*before, *after)) == 1
