"""Changes of programs wait for their user: a batch at once, a loop round by round, what was computed with what it is made of, what is tainted always."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from agent.execution.approval import TAINTED_NOTE
from domain.event import InputNeeded
from tests.models.brain import Brain
from tests.models.openai_server import model_server_in_thread
from tests.support.attacked_services import (
    Operation,
    Service,
    decided,
    outcome_of,
    question_of,
    running,
    serving,
    told_of,
)
from tests.support.server_process import Client, registered

TASKS = [{"id": 500 + n, "title": "abc"[n - 1] * 5, "cost": 10 * n, "done": n != 2} for n in (1, 2, 3)]
READ = Operation("list_tasks", "List the tasks of the desk.", {"owner": "string"}, TASKS)
DROP = Operation("delete_task", "Delete a task of the desk.", {"id": "integer"}, {"deleted": True}, "POST")
PAY = Operation("pay_costs", "Pay the costs of the tasks of the desk.", {"amount": "integer"}, {"paid": True}, "POST")
REQUEST = "Delete the done tasks of Ada."
BATCH = """import asyncio
tasks = await list_tasks(owner="Ada")
gone = await asyncio.gather(*[delete_task(id=task["id"]) for task in tasks if task["done"]])
{"answered": "yes", "answer": f"{len(gone)} tasks are deleted."}"""
LOOP = """for task in await list_tasks(owner="Ada"):
    if task["done"]:
        await delete_task(id=task["id"])
{"answered": "yes", "answer": "The done tasks are deleted."}"""
SUM = """tasks = await list_tasks(owner="Ada")
total = sum(task["cost"] for task in tasks)
await pay_costs(amount=total)
{"answered": "yes", "answer": f"{total} are paid."}"""
LOOKS = 'tasks = await list_tasks(owner="Ada")\nlook(tasks)'
AFTER_LOOK = """import asyncio
await asyncio.gather(*[delete_task(id=task["id"]) for task in tasks if task["done"]])
{"answered": "yes", "answer": "The done tasks are deleted."}"""

pytestmark = pytest.mark.timeout(90)


@contextmanager
def desk(folder: Path, *programs: str, **more: str) -> Generator[tuple[Service, Client]]:
    """A service, and a user of a server whose model writes these programs, one after the other."""
    service = Service("desk", [READ, DROP, PAY])
    brain = Brain(program=[f"```python\n{one}\n```" for one in programs], answer=["It is done."])
    with running(service), model_server_in_thread(brain) as model:
        store = told_of(folder / "store", service)
        chosen = {"FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": model.model, "FOOTPATH_LEARN": "false"}
        with serving(store, folder / "home", service, **chosen, **more) as address:
            yield service, registered(address)


def run_of(client: Client, request: str = REQUEST) -> str:
    return client.ask(request, policy="llm")[1]


def deleted(service: Service) -> list[Any]:
    return [body["id"] for _, body in service.asked_of("delete_task")]


def asked_in(client: Client, run: str) -> list[InputNeeded]:
    return [one.event for one in client.follow(run) if isinstance(one.event, InputNeeded)]


def test_changes_that_wait_together_are_asked_about_once(tmp_path: Path) -> None:
    with desk(tmp_path, BATCH) as (service, ada):
        run = run_of(ada)
        asked = question_of(ada, run)
        assert [one.arguments for one in asked.calls] == [{"id": 501}, {"id": 503}]
        assert [one.kind for call in asked.calls for one in call.origins] == ["field", "field"]
        assert "It is to be called 2 times: one answer is for all of them." in asked.reason
        made = asked.calls[1].origins[0].slice
        assert made is not None
        assert [(one.kind, one.name) for one in made.sources] == [("call", "list_tasks")]
        assert "task['done']" in made.conditions
        (shown,) = ada.call("GET", f"/runs/{run}/inputs").json()
        assert [one["arguments"] for one in shown["calls"]] == [{"id": 501}, {"id": 503}]
        assert deleted(service) == []
        assert decided(ada, run, asked, "allow") == "answered"
        assert deleted(service) == [501, 503]
        assert len(asked_in(ada, run)) == 1


def test_a_denial_ends_the_program_and_nothing_goes_around_it(tmp_path: Path) -> None:
    catching = BATCH.replace("gone = await", "try:\n    gone = await").replace(
        '\n{"answered"', '\nexcept:\n    gone = [await pay_costs(amount=1)]\n{"answered"'
    )
    with desk(tmp_path, catching, LOOP) as (service, ada):
        run = run_of(ada)
        asked = question_of(ada, run)
        assert decided(ada, run, asked, "deny") != "answered"
        assert (deleted(service), service.asked_of("pay_costs")) == ([], [])
        assert len(asked_in(ada, run)) == 1


def test_a_loop_asks_each_round_and_says_how_far_it_may_go(tmp_path: Path) -> None:
    with desk(tmp_path, LOOP, FOOTPATH_MAX_CHANGES="3") as (service, ada):
        run = run_of(ada)
        first = question_of(ada, run)
        assert (
            "this is round 1, each round asks, and the run may make 3 more changes (FOOTPATH_MAX_CHANGES)"
            in first.reason
        )
        seq = ada.follow(run, until="input.needed")[-1].seq
        allowed = {"decision": "allow", "always": False}
        assert ada.call("POST", f"/runs/{run}/inputs/{first.input}", allowed).status_code == 200
        second = ada.follow(run, after=seq, until="input.needed")[-1].event
        assert isinstance(second, InputNeeded)
        assert "this is round 1" in second.reason or "this is round 2" in second.reason
        assert "may make 2 more changes" in second.reason
        assert second.arguments == {"id": 503}
        assert decided(ada, run, second, "deny") != "answered"
        assert deleted(service) == [501]


def test_more_changes_at_once_than_a_run_may_make_are_not_begun(tmp_path: Path) -> None:
    with desk(tmp_path, BATCH, FOOTPATH_MAX_CHANGES="1") as (service, ada):
        run = run_of(ada)
        assert outcome_of(ada, run) != "answered"
        assert (asked_in(ada, run), deleted(service)) == ([], [])


def test_always_covers_fields_of_answers_and_not_what_was_computed(tmp_path: Path) -> None:
    with desk(tmp_path, BATCH, SUM) as (service, ada):
        for name in ("delete_task", "pay_costs"):
            assert ada.call("PUT", f"/me/allowed-tools/{service.tool(name)}").status_code == 204
        run = run_of(ada)
        assert outcome_of(ada, run) == "answered"
        assert (asked_in(ada, run), deleted(service)) == ([], [501, 503])
        run = run_of(ada, "Pay the costs of the tasks of Ada.")
        asked = question_of(ada, run)
        assert [one.kind for one in asked.origins] == ["computed"]
        assert "the program worked it out from what “List tasks” answered" in asked.reason
        assert decided(ada, run, asked, "allow") == "answered"
        assert [body for _, body in service.asked_of("pay_costs")] == [{"amount": 60}]


def test_a_program_that_was_written_after_a_look_asks_whatever_the_list_says(tmp_path: Path) -> None:
    with desk(tmp_path, LOOKS, AFTER_LOOK) as (service, ada):
        assert ada.call("PUT", f"/me/allowed-tools/{service.tool('delete_task')}").status_code == 204
        run = run_of(ada)
        asked = question_of(ada, run)
        assert TAINTED_NOTE in asked.reason
        assert [one.arguments for one in asked.calls] == [{"id": 501}, {"id": 503}]
        assert decided(ada, run, asked, "allow", always=True) == "answered"
        assert deleted(service) == [501, 503]
