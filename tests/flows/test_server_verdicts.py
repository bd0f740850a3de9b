"""A user says that an answer was right or wrong: what was wrong is not given again, to nobody else's loss, and a word can be taken back. Over HTTP."""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from domain.event import EventRecord, ProgramEnded, RunFinished, SolutionTaken
from tests.models.brain import Brain
from tests.models.openai_server import model_server_in_thread
from tests.support.playground_process import running_playground
from tests.support.server_process import INHABITANTS, Client, Place, built, registered, serving

pytestmark = pytest.mark.timeout(240)
OTHER = "How many inhabitants does Oskvik have?"
WRONG, RIGHT = (
    f"""place = (await search_places(city="Meghalpet"))["results"][0]
{{"answered": "yes", "answer": f"{{place['{field}']}} inhabitants"}}"""
    for field in ("longitude", "population")
)


@pytest.fixture(scope="module")
def playground() -> Iterator[str]:
    with running_playground() as address:
        yield address


@pytest.fixture
def place(playground: str, tmp_path: Path) -> Place:
    """A store of the test's own: what is kept in it, all users of it have."""
    (tmp_path / "place").mkdir()
    return built(tmp_path / "place", playground)


@contextmanager
def served(place: Place, home: Path, *texts: str) -> Generator[tuple[Client, Brain]]:
    """Somebody at a server whose model writes these programs, one after the other, and says of no solution that it serves."""
    brain = Brain(program=list(texts), fill=[{"reason": "it asks for something else", "fits": False, "values": {}}])
    with (
        model_server_in_thread(brain) as model,
        serving(place, home, FOOTPATH_MODEL_URL=model.url, FOOTPATH_MODEL_NAME=model.model) as (address, _),
    ):
        yield registered(address), brain


def asked(who: Client, request: str = INHABITANTS) -> tuple[str, list[EventRecord]]:
    _, run = who.ask(request, policy="llm", planner="program")
    return run, who.follow(run)


def answer(records: list[EventRecord]) -> str:
    end = records[-1].event
    assert isinstance(end, RunFinished)
    return end.answer


def took(records: list[EventRecord]) -> list[str]:
    return [record.event.solution for record in records if isinstance(record.event, SolutionTaken)]


def says(who: Client, run: str, verdict: str | None) -> Any:
    said = who.call("PUT", f"/runs/{run}/verdict", {"verdict": verdict})
    assert said.status_code == 200, said.text
    return said.json()


def test_a_wrong_answer_that_a_user_marked_is_not_given_again(place: Place, tmp_path: Path) -> None:
    with served(place, tmp_path / "home", WRONG, RIGHT) as (ada, brain):
        first, records = asked(ada)
        wrong = answer(records)
        assert took(records) == []
        again, records = asked(ada)
        (solution,) = took(records)
        assert (answer(records), brain.asked.count("program")) == (wrong, 1)
        shown = says(ada, again, "wrong")
        assert (shown["verdict"], shown["verdict_note"]) == ("wrong", "")
        assert ada.call("GET", f"/runs/{again}").json()["verdict"] == "wrong"
        kept = ada.call("GET", f"/solutions/{solution}").json()
        assert (kept["wrong"], kept["own"]) == ([INHABITANTS], True)
        # Neither to the same request nor to one that is worded like it: the model is asked anew, and writes another program.
        for request in (INHABITANTS, INHABITANTS.lower()):
            _, records = asked(ada, request)
            assert solution not in took(records)
            assert answer(records) != wrong
        assert brain.asked.count("program") >= 2
        exported = ada.call("GET", f"/conversations/{shown['conversation_id']}/export").json()
        assert exported["runs"][0]["verdict"] == "wrong"
        assert ada.call("PUT", f"/runs/{first}/verdict", {"verdict": "perhaps"}).status_code == 422


def test_nor_is_it_given_by_a_program_that_is_written_anew(place: Place, tmp_path: Path) -> None:
    with served(place, tmp_path / "home", WRONG) as (ada, _):
        run, records = asked(ada)
        wrong = answer(records)
        says(ada, run, "wrong")
        _, records = asked(ada, INHABITANTS.lower())
        assert answer(records) != wrong
        (end, *_) = [one.event for one in records if isinstance(one.event, ProgramEnded)]
        assert (wrong.startswith(end.answer), end.verdict, "you said" in end.veto) == (True, "no", True)
        says(ada, run, None)
        assert answer(asked(ada)[1]) == wrong


def test_a_word_is_taken_back(place: Place, tmp_path: Path) -> None:
    with served(place, tmp_path / "home", RIGHT) as (ada, brain):
        run, records = asked(ada)
        (learned,) = [one.event for one in records if one.event.kind == "weights.learned"]
        (solution,) = learned.solutions
        before = ada.call("GET", f"/solutions/{solution}").json()
        for _ in range(2):  # idempotent
            says(ada, run, "wrong")
        now = ada.call("GET", f"/solutions/{solution}").json()
        assert (now["bad"], now["wrong"]) == (1, [INHABITANTS])
        assert took(asked(ada)[1]) == []
        assert says(ada, run, None)["verdict"] is None
        now = ada.call("GET", f"/solutions/{solution}").json()
        assert (now["bad"], now["wrong"]) == (before["bad"], [])
        programs = brain.asked.count("program")
        assert took(asked(ada)[1]) == [solution]
        assert brain.asked.count("program") == programs


def test_what_one_user_says_is_wrong_of_a_shared_solution_others_still_get(place: Place, tmp_path: Path) -> None:
    with served(place, tmp_path / "home", RIGHT) as (ada, _):
        run, _ = asked(ada)
        made = ada.call("POST", "/solutions", {"run_id": run})
        assert made.status_code == 201, made.text
        (mine,) = {made.json()["id"]}
        bob = registered(ada.address, "bob")
        assert bob.call("GET", f"/solutions/{mine}").status_code == 404
        assert bob.call("PUT", f"/runs/{run}/verdict", {"verdict": "wrong"}).status_code == 404
        assert bob.call("GET", "/solutions").json() == []
        assert [one["id"] for one in ada.call("GET", "/solutions?own=true").json()] == [mine]
        shared = _shared(tmp_path / "home", ada, mine)
        assert [ada.call("GET", f"/solutions?own={own}").json() == [] for own in ("true", "false")] == [True, False]
        bobs, records = asked(bob)
        assert took(records) == [shared]
        says(bob, bobs, "wrong")
        assert took(asked(bob)[1]) == []
        assert took(asked(registered(ada.address, "eve"))[1]) == [shared]


def test_a_solution_is_run_with_values_and_forgotten(place: Place, tmp_path: Path) -> None:
    with served(place, tmp_path / "home", RIGHT) as (ada, _):
        run, _ = asked(ada)
        made = ada.call("POST", "/solutions", {"run_id": run}).json()
        (name,) = made["parameters"]
        found = ada.call("GET", f"/solutions?request={OTHER}").json()
        assert [one["id"] for one in found] == [made["id"]]
        assert found[0]["likeness"] > 0.6
        assert [one["id"] for one in ada.call("GET", f"/solutions?tool={quote(made['path'][0])}").json()] == [
            made["id"]
        ]
        conversation = ada.call("POST", "/conversations", {}).json()["id"]
        path = f"/solutions/{made['id']}"
        refused = ada.call("POST", f"{path}/runs", {"conversation_id": conversation, "values": {"nothing": 1}})
        assert refused.status_code == 400
        unknown = {"conversation_id": conversation, "pattern": "Who is {name}?", "values": {name: "Oskvik"}}
        assert "has no such pattern" in ada.call("POST", f"{path}/runs", unknown).json()["detail"]
        started = ada.call("POST", f"{path}/runs", {"conversation_id": conversation, "values": {name: "Oskvik"}})
        assert started.status_code == 202, started.text
        records = ada.follow(started.json()["id"])
        assert (started.json()["request"], "inhabitants" in answer(records)) == (OTHER, True)
        says(ada, started.json()["id"], "wrong")
        assert ada.call("GET", path).json()["wrong"] == [OTHER]
        assert ada.call("POST", f"{path}/check").json()["suspended"] == ""
        assert ada.call("DELETE", path).status_code == 204
        assert ada.call("GET", path).status_code == 404


def _shared(home: Path, who: Client, solution: str) -> str:
    """By an administrator, who has become one."""
    with closing(sqlite3.connect(home / "rows.db")) as rows, rows:
        rows.execute("UPDATE users SET role = 'admin' WHERE name = 'ada'")
    answer = who.call("POST", f"/solutions/{solution}/promote")
    assert answer.status_code == 200, answer.text
    assert answer.json()["own"] is False
    return answer.json()["id"]
