"""Walks that are judged: resumed where they went wrong, begun again, bounded, and never at the cost of the best path."""

from collections.abc import Sequence
from pathlib import Path

from agent.budget import Budget
from agent.execution.approval import AllowChangesApprover
from agent.planners.reflection import MAX_MOVES
from agent.policy.protocol import MoveQuestion, NextMove, Reflection, ReflectionQuestion
from agent.run import run
from agent.transcript import RunTranscript
from domain.event import CandidatesConsidered, EventRecord, PathEnded, ReflectionMade, RunFinished, StepChosen
from domain.tool import ToolDoc
from graph.links import SubstituteLink, ToolLinks
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.support.run_deps import build_deps
from tests.support.small_world import (
    BOOKS,
    FORECAST,
    FOUND,
    GEOCODE,
    NEW_WEATHER,
    OLD_WEATHER,
    WALKS,
    ScriptedExecutor,
    down,
    finder,
    graph,
)

WEATHER = "What is the weather forecast for Paris?"
GOOD = Reflection("success", "fine")


class Wandering(OfflinePolicy):
    """Goes to the tools it is told to, ``None`` finishes, and judges as it is told; what was asked of it is kept."""

    def __init__(self, moves: Sequence[ToolDoc | str | None], judgements: Sequence[Reflection]) -> None:
        super().__init__()
        self._moves = list(moves)
        self._judgements = list(judgements)
        self.seen: list[MoveQuestion] = []
        self.judged: list[ReflectionQuestion] = []

    async def choose(self, situation: MoveQuestion) -> NextMove:
        self.seen.append(situation)
        move = self._moves.pop(0) if len(self._moves) > 1 else self._moves[0]
        if isinstance(move, ToolDoc):
            at = [candidate.tool.id for candidate in situation.candidates].index(move.id)
            return NextMove("advance", f"to {move.api}", at)
        return NextMove("give_up", move) if move else NextMove("finish", "all is there")

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        self.judged.append(question)
        return self._judgements.pop(0) if len(self._judgements) > 1 else self._judgements[0]


def calls() -> ScriptedExecutor:
    return ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, get_daily_forecast=FORECAST)


async def asked(
    folder: Path,
    policy: OfflinePolicy,
    executor: ScriptedExecutor,
    budget: Budget | None = None,
    substitutes: Sequence[SubstituteLink] = (),
) -> tuple[list[EventRecord], RunTranscript]:
    store = await graph(WALKS)
    await store.put_links([ToolLinks(one.one, [], [one]) for one in substitutes])
    deps = build_deps(
        store, await finder(folder), policy, executor, approver=AllowChangesApprover(), reader=EnglishReader()
    )
    records = [record async for record in run(WEATHER, deps, budget)]
    return records, RunTranscript.from_records(records)


def end(transcript: RunTranscript) -> RunFinished:
    assert transcript.end is not None
    return transcript.end


def judgements(records: list[EventRecord]) -> list[ReflectionMade]:
    return [record.event for record in records if isinstance(record.event, ReflectionMade)]


async def test_a_partial_failure_is_resumed_at_the_first_wrong_step_with_the_reason(tmp_path: Path) -> None:
    wrong = Reflection("partial", "step 2 is about yesterday", first_wrong=2)
    policy = Wandering([GEOCODE, OLD_WEATHER, None, NEW_WEATHER, None], [wrong, GOOD])
    executor = calls()
    records, transcript = await asked(tmp_path, policy, executor)
    assert [(made.verdict, made.first_wrong, made.resumed) for made in judgements(records)] == [
        ("partial", 2, True), ("success", None, False),
    ]  # fmt: skip
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert [name for name, _ in executor.made] == ["search_places", "get_daily_forecast"], "nothing wrong was called"
    resumed = policy.seen[3]
    assert [tool.id for tool in resumed.path] == [GEOCODE.id]
    assert OLD_WEATHER.id not in [candidate.tool.id for candidate in resumed.candidates]
    assert any("step 2 is about yesterday" in move for move in resumed.memory)
    assert any("went to Places Set/search_places: to search_places" in move for move in resumed.memory)
    assert end(transcript).usage.reflections == 1


async def test_a_path_to_which_something_is_to_be_added_is_walked_on(tmp_path: Path) -> None:
    short = Reflection("partial", "the forecast is missing", first_wrong=2)
    policy = Wandering([GEOCODE, None, NEW_WEATHER, None], [short, GOOD])
    _, transcript = await asked(tmp_path, policy, calls())
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert end(transcript).outcome == "answered"


async def test_a_total_failure_begins_again_without_the_noisy_starts(tmp_path: Path) -> None:
    noise = Reflection("total", "books have nothing to do with it", noisy=(BOOKS.id,))
    policy = Wandering(["no tool fits", GEOCODE, NEW_WEATHER, None], [noise, GOOD])
    records, transcript = await asked(tmp_path, policy, calls())
    shown = [{c.tool for c in r.event.candidates} for r in records if isinstance(r.event, CandidatesConsidered)]
    assert BOOKS.id in shown[0]
    assert BOOKS.id not in shown[1]
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert [c.tool.id for c in policy.judged[0].starts], "who judges sees what there was to start with"


async def test_a_finished_path_that_is_totally_wrong_does_not_begin_the_same_way(tmp_path: Path) -> None:
    policy = Wandering([BOOKS, None, GEOCODE, NEW_WEATHER, None], [Reflection("total", "all wrong"), GOOD])
    _, transcript = await asked(tmp_path, policy, calls())
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert end(transcript).outcome == "answered"


async def test_giving_up_stands_where_nothing_is_called_noisy(tmp_path: Path) -> None:
    policy = Wandering(["no tool fits"], [Reflection("total", "that is so")])
    records, transcript = await asked(tmp_path, policy, calls())
    assert [made.resumed for made in judgements(records)] == [False]
    assert end(transcript).outcome == "gave_up"
    assert "no tool fits" in end(transcript).answer


async def test_the_best_path_is_gone_on_with_where_a_later_walk_comes_to_nothing(tmp_path: Path) -> None:
    wrong = Reflection("partial", "take another", first_wrong=2)
    policy = Wandering([GEOCODE, OLD_WEATHER, None, "there is no other"], [wrong, Reflection("total", "none")])
    records, transcript = await asked(tmp_path, policy, calls())
    assert transcript.path == (GEOCODE.id, OLD_WEATHER.id)
    assert end(transcript).outcome == "answered"
    last = [record.event for record in records if isinstance(record.event, PathEnded)][-1]
    assert last.reason == "the best path so far: all is there"


async def test_a_worse_path_does_not_replace_a_better_one(tmp_path: Path) -> None:
    wrong = Reflection("partial", "take another", first_wrong=1)
    policy = Wandering([GEOCODE, OLD_WEATHER, None, BOOKS, None], [wrong, wrong, Reflection("total", "none")])
    _, transcript = await asked(tmp_path, policy, calls(), Budget(reflections=1))
    assert transcript.path == (GEOCODE.id, OLD_WEATHER.id)


async def test_who_is_never_content_is_asked_a_bounded_number_of_times(tmp_path: Path) -> None:
    policy = Wandering(
        [GEOCODE, OLD_WEATHER, None, NEW_WEATHER, None], [Reflection("partial", "not nice enough", first_wrong=3)]
    )
    records, transcript = await asked(tmp_path, policy, calls(), Budget(reflections=2))
    assert len(judgements(records)) == 2
    assert end(transcript).outcome == "answered"
    assert end(transcript).usage.reflections == 2


async def test_without_reflections_nobody_is_asked(tmp_path: Path) -> None:
    policy = Wandering([GEOCODE, OLD_WEATHER, None], [Reflection("total", "no")])
    records, transcript = await asked(tmp_path, policy, calls(), Budget(reflections=0))
    assert judgements(records) == []
    assert end(transcript).outcome == "answered"


class Restless(OfflinePolicy):
    """Never finishes: goes to whatever is first on offer, and back where nothing is."""

    async def choose(self, situation: MoveQuestion) -> NextMove:
        return NextMove("advance", "on", 0) if situation.candidates else NextMove("backtrack", "back")


async def test_a_walk_that_finds_no_end_is_looked_at_and_its_best_path_taken(tmp_path: Path) -> None:
    records, transcript = await asked(tmp_path, Restless(), calls())
    ended = [record.event for record in records if isinstance(record.event, PathEnded)]
    assert ended[0].how in ("budget", "gave_up")
    assert len([r for r in records if isinstance(r.event, StepChosen)]) <= 60
    assert end(transcript).outcome in ("gave_up", "budget")
    assert end(transcript).usage.decisions <= 64
    assert f"{MAX_MOVES} moves" in ended[0].reason or ended[0].how == "gave_up"


async def test_where_a_call_fails_its_substitute_comes_first(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=FORECAST)
    records, transcript = await asked(
        tmp_path, OfflinePolicy(), executor, substitutes=[SubstituteLink(OLD_WEATHER.id, NEW_WEATHER.id, 0.9)]
    )
    after = [r.event for r in records if isinstance(r.event, CandidatesConsidered) and r.event.path == (GEOCODE.id,)]
    first = after[-1].candidates[0]
    assert (first.tool, first.origin) == (NEW_WEATHER.id, "substitute")
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert end(transcript).outcome == "answered"
