"""Follow-up questions: dialogues over the playground, one that is broken off and goes on, and conversations of a server."""

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

import httpx
import pytest

from agent.budget import Budget
from agent.conversation import EarlierRun, build_earlier_run
from agent.execution.approval import AllowChangesApprover
from agent.run import run
from domain.event import CallFinished, EventRecord, InputNeeded, RunFinished, RunStarted, SubtaskStarted
from evaluation.answers import evaluate_answers
from evaluation.correctness import find_absent_from_responses
from evaluation.evaluation_cases import EvaluationCase, read_evaluation_cases
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from playground.record import CATALOGUE, DATA, catalogue_tools
from tests.flows.gold import follow
from tests.support.playground_process import running_playground
from tests.support.run_deps import build_deps
from tests.support.server_process import Client, Place, built, effects, registered, reset, serving
from tests.support.small_world import FORECAST, FOUND, WALKS, ScriptedExecutor, finder, graph
from wiring.container import open_container
from wiring.runs import build_budget, build_run_deps
from wiring.settings import Settings

DIALOGUES = read_evaluation_cases(
    [Path(__file__).parents[2] / "playground" / "requests" / "dialogues" / "follow_ups.jsonl"]
)
UNSOLVED = {"dialogue-employer", "dialogue-director"}
"""``the employer``: a thing that no word points back to; ``Who directed it``: a verb for which the film's fields have a noun."""
HOLIDAYS = "Which public holidays does Caldera have in 2026?"

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with running_playground() as address:
        yield built(tmp_path_factory.mktemp("place"), address)


class _Services:
    def __init__(self, place: Place) -> None:
        self._place = place

    async def reset(self) -> None:
        await asyncio.to_thread(reset, self._place)

    async def effects(self) -> list[str]:
        return [effect["tool"] for effect in await asyncio.to_thread(effects, self._place)]


@pytest.mark.parametrize("one", DIALOGUES, ids=lambda one: one.id)
def test_its_calls_give_what_is_expected(one: EvaluationCase, place: Place) -> None:
    reset(place)
    with httpx.Client(base_url=place.playground, timeout=20, trust_env=False) as client:
        responses, _ = follow(client, catalogue_tools(DATA / CATALOGUE), one)
    assert find_absent_from_responses(one.expect, responses) == []
    assert find_absent_from_responses(one.expect, responses[:-1]) != [], "the last call is not needed"


async def test_dialogues_are_answered(place: Place) -> None:
    host = place.tools.removeprefix("http://")
    async with open_container(Settings(store=place.store, allow_hosts=[host])) as container:  # pyright: ignore[reportArgumentType]
        answered = await evaluate_answers(
            DIALOGUES,
            lambda: build_run_deps(container, "offline", "http", "program", approver=AllowChangesApprover()),
            build_budget(container),
            _Services(place),
        )
    wrong = {verdict.case.id: (verdict.cause, verdict.answer) for verdict in answered.verdicts if not verdict.right}
    assert wrong.keys() == UNSOLVED, wrong
    assert answered.unasked == ()


async def told(
    request: str,
    folder: Path,
    executor: ScriptedExecutor,
    earlier: Sequence[EarlierRun] = (),
    past: Sequence[EventRecord] = (),
    until: int = 10_000,
) -> list[EventRecord]:
    """The run's records, the past ones first; broken off after the event of a number."""
    deps = build_deps(
        await graph(WALKS),
        await finder(folder),
        OfflinePolicy(),
        executor,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )
    records, events = list(past), run(request, deps, Budget(), name="later", past_events=past, earlier_runs=earlier)
    async for record in events:
        records.append(record)
        if record.seq == until:
            break
    await events.aclose()
    return records


def executor() -> ScriptedExecutor:
    return ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, get_daily_forecast=FORECAST)


@pytest.mark.parametrize(
    "follow_up", ["What is the weather forecast there?", "And of Rome?", "What is its population?"]
)
async def test_one_that_is_broken_off_goes_on_to_the_same_end(follow_up: str, tmp_path: Path) -> None:
    first = await told("What is the population of Paris?", tmp_path, executor())
    earlier = [build_earlier_run(first)]
    whole = await told(follow_up, tmp_path, executor(), earlier)
    end = whole[-1].event
    assert isinstance(end, RunFinished)
    assert end.outcome == "answered"
    for cut in range(1, len(whole)):
        before = await told(follow_up, tmp_path, executor(), earlier, until=cut)
        records = await told(follow_up, tmp_path, executor(), earlier, past=before)
        assert [record.event.kind for record in records] == [record.event.kind for record in whole], cut
        assert _answer(records) == end.answer, cut
        assert _provenance(records) == _provenance(whole), cut


def _answer(records: Sequence[EventRecord]) -> str:
    end = records[-1].event
    assert isinstance(end, RunFinished)
    return end.answer


def _provenance(records: Sequence[EventRecord]) -> list[str]:
    results = [record.event.result for record in records if isinstance(record.event, CallFinished)]
    return [binding.reference for result in results for binding in result.provenance]


def ask(client: Client, conversation: str, request: str, until: str = "run.finished") -> list[EventRecord]:
    """The events of a run that asks for something in a conversation, up to one of a kind."""
    answer = client.call("POST", f"/conversations/{conversation}/runs", {"request": request, "planner": "dfs"})
    assert answer.status_code == 202, answer.text
    return client.follow(answer.json()["id"], until=until)


def test_a_conversation_of_a_server(place: Place, tmp_path: Path) -> None:
    """What its runs found is there for later ones of it, with where it is, and for no other conversation."""
    home = tmp_path / "home"
    with serving(place, home) as (address, _):
        ada = registered(address)
        conversation, first = ada.ask("How many inhabitants does Meghalpet have?")
        before = {record.seq: record.event for record in ada.follow(first)}
        there = ask(ada, conversation, "What is the weather there?")
        assert "28.3" in _answer(there)
        started = there[0].event
        assert isinstance(started, RunStarted)
        (known,) = started.earlier
        found = before[known.seq]
        assert known.run == first
        assert isinstance(found, CallFinished)
        assert found.result.tool == known.tool
        assert _provenance(there) == ["earlier.1.results[0].latitude", "earlier.1.results[0].longitude"]
        other = ada.call("POST", "/conversations", {}).json()["id"]
        alone = ask(ada, other, "What is the weather there?", until="input.needed")
        assert isinstance(alone[0].event, RunStarted)
        assert alone[0].event.earlier == ()
        assert isinstance(alone[-1].event, InputNeeded)
        assert alone[-1].event.asks == "question"


def test_a_killed_server_takes_a_follow_up_up_where_it_was(place: Place, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(place, home) as (address, process):
        ada = registered(address)
        conversation, first = ada.ask(HOLIDAYS)
        ada.follow(first)
        asked = ada.call(
            "POST", f"/conversations/{conversation}/runs", {"request": "And in 2027?", "planner": "dfs"}
        ).json()["id"]
        before = ada.follow(asked, until="subtask.started")
        process.kill()
        process.wait()
    with serving(place, home) as (address, _):
        ada.address = address
        records = [*before, *ada.follow(asked, after=before[-1].seq)]
        reread = ask(ada, conversation, "And which of them falls in March?")
    begun = [record.event for record in records if isinstance(record.event, SubtaskStarted)]
    assert [one.description for one in begun] == ["Which public holidays does Caldera have in 2027?"]
    assert "2027-11-08" in _answer(records)
    assert "earlier.1:name" in _provenance(records)
    assert "2027-03-22" in _answer(reread)
    assert _provenance(reread) == []
