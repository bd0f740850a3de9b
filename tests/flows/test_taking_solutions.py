"""What was worked out once is taken again: with plain values without a model, else after one small question; what does not serve is marked, and a program is written."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic.types import JsonValue

from agent.conversation import EarlierRun, build_earlier_run
from agent.execution.approval import DenyChangesApprover
from agent.execution.executor import CallResult
from agent.solutions.library import SolutionLibrary
from domain.event import (
    CallFinished,
    CandidatesConsidered,
    EventRecord,
    ProgramStarted,
    RunFinished,
    SolutionTaken,
    WeightsLearned,
)
from domain.model import JsonObject
from graph.backends.in_memory import InMemoryPatterns, InMemorySolutions
from tests.models.brain import Line
from tests.support.program_world import OffersAs, World, code, the, world
from tests.support.run_deps import change_deps
from tests.support.small_world import GEOCODE, REMOVE, Answer, ScriptedExecutor, WordEmbedder, ok
from tests.support.solution_shelf import Shelf, solution
from wiring.runs import run_and_learn

TOWNS = {"Paris": 2_100_000, "Oslo": 717_710, "Al Safira": 12_345, "Lyon": 522_250}
ASKED = "How many inhabitants does Paris have?"
WRITTEN = code(
    'found = await search_places(city="Paris")',
    'town = found["results"][0]',
    '{"answered": "yes", "answer": f"Paris has {town[\'population\']} inhabitants"}',
)
NO_PROGRAM = "I write no programs."
NO_WORD = "I do not know."


def town(arguments: JsonObject) -> CallResult:
    name = str(arguments["city"])
    results: list[JsonValue] = [{"city": name, "population": TOWNS[name]}] if name in TOWNS else []
    return CallResult("ok", json.dumps({"results": results}), http_status=200)


def filled(fits: bool, *wordings: str, **values: JsonValue) -> JsonObject:
    inputs: list[JsonValue] = [{"input": name, "value": value} for name, value in values.items()]
    return {"reason": "as it says", "fits": fits, "inputs": inputs, "wordings": list(wordings)}


@dataclass
class Town:
    """A world that learns. ``library``: what it learns."""

    made: World
    library: SolutionLibrary
    executor: ScriptedExecutor

    async def ask(self, request: str, past: Sequence[EventRecord] = ()) -> list[EventRecord]:
        """A run that is learnt from."""
        name = f"run {len(self.made.server.requests)} {len(self.executor.made)} {request}"
        return [one async for one in run_and_learn(request, self.made.deps, name=name, past=past)]

    @property
    def asked(self) -> list[str]:
        return self.made.brain.asked


@asynccontextmanager
async def towns(
    folder: Path, *texts: Line, answer: Answer = town, fill: Sequence[Line] = (NO_WORD,)
) -> AsyncGenerator[Town]:
    executor = ScriptedExecutor(search_places=answer, delete_book=ok({"deleted": 1}))
    async with world(folder, executor, *texts, offers=OffersAs([[GEOCODE]]), fill=list(fill)) as made:
        store, index = InMemorySolutions(), InMemoryPatterns()
        library = SolutionLibrary(store, index, WordEmbedder(), "", made.deps.knowledge.store)
        made.deps = change_deps(made.deps, solutions=library)
        yield Town(made, library, executor)


def last(records: Sequence[EventRecord]) -> RunFinished:
    event = records[-1].event
    assert isinstance(event, RunFinished)
    return event


def taken(records: Sequence[EventRecord]) -> list[SolutionTaken]:
    return [one.event for one in records if isinstance(one.event, SolutionTaken)]


def learned(records: Sequence[EventRecord]) -> WeightsLearned:
    return next(one.event for one in records if isinstance(one.event, WeightsLearned))


async def test_the_same_asked_of_another_thing_costs_no_question_to_a_model(tmp_path: Path) -> None:
    async with towns(tmp_path, WRITTEN) as made:
        first = await made.ask(ASKED)
        (kept,) = learned(first).solutions
        second = await made.ask("How many inhabitants does Al Safira have?")
        solution = (await made.library.get([kept]))[kept]
    assert made.asked == ["program"]
    (told,) = taken(second)
    assert (told.solution, told.how, told.values) == (kept, "plain", {"city": "Al Safira"})
    assert last(second).answer.startswith("Al Safira has 12345 inhabitants")
    assert last(second).outcome == "answered"
    assert solution.patterns == ("How many inhabitants does {city} have?",)
    assert (solution.good, [one.good for one in learned(second).solved]) == (1, [True])
    assert not the(second, CandidatesConsidered)  # nothing is looked up, either


async def test_other_words_are_asked_about_once_and_known_from_then_on(tmp_path: Path) -> None:
    fits = filled(True, "{What is|Tell me} the population of {city}?", city="Oslo")
    async with towns(tmp_path, WRITTEN, fill=[fits]) as made:
        await made.ask(ASKED)
        told = [await made.ask(one) for one in (
            "How many people does Oslo have?", "How many people does Lyon have?", "Tell me the population of Paris."
        )]  # fmt: skip
    assert made.asked == ["program", "fill"]
    assert [one.how for records in told for one in taken(records)] == ["asked", "plain", "plain"]
    assert [last(one).answer.split("\n")[0] for one in told] == [
        "Oslo has 717710 inhabitants", "Lyon has 522250 inhabitants", "Paris has 2100000 inhabitants"
    ]  # fmt: skip


async def test_what_does_not_fit_is_written_with_the_near_solution_in_view(tmp_path: Path) -> None:
    async with towns(tmp_path, WRITTEN, fill=[filled(False)]) as made:
        await made.ask(ASKED)
        second = await made.ask("How many inhabitants does Oslo not have?")
    assert made.asked == ["program", "fill", "program"]
    assert not taken(second)
    shown = made.made.server.requests[-1].messages[1]["content"]
    assert "# for: How many inhabitants does {city} have?" in shown
    assert "search_places(city=city)" in shown


async def test_a_model_that_passes_over_a_figure_is_not_believed(tmp_path: Path) -> None:
    async with towns(tmp_path, WRITTEN, fill=[filled(True, city="Oslo")]) as made:
        await made.ask(ASKED)
        second = await made.ask("How many inhabitants did Oslo have in 1990?")
    assert not taken(second)
    assert made.asked == ["program", "fill", "program"]


async def test_a_solution_that_breaks_off_is_marked_and_a_program_is_written(tmp_path: Path) -> None:
    empty = code(
        'found = await search_places(city="Nowhere")', '{"answered": "yes", "answer": f"{len(found)} are there"}'
    )
    async with towns(tmp_path, WRITTEN, empty) as made:
        (kept,) = learned(await made.ask(ASKED)).solutions
        second = await made.ask("How many inhabitants does Nowhere have?")
        solution = (await made.library.get([kept]))[kept]
    assert made.asked == ["program", "program"]
    assert len(taken(second)) == 1
    assert (solution.good, solution.bad) == (0, 1)
    assert last(second).answer.startswith("1 are there")
    assert learned(second).solved[0].good is False


async def test_one_whose_answer_was_marked_wrong_is_not_taken_for_such_a_request(tmp_path: Path) -> None:
    async with towns(tmp_path, WRITTEN) as made:
        (kept,) = learned(await made.ask(ASKED)).solutions
        await made.library.record_outcome(kept, good=False, wrong="How many inhabitants does Oslo have?")
        second = await made.ask("How many inhabitants does Oslo have?")
    assert not taken(second)
    assert made.asked == ["program", "program"]


async def test_a_run_that_is_broken_off_takes_the_same_solution_again_without_asking(tmp_path: Path) -> None:
    fits = filled(True, city="Oslo")
    async with towns(tmp_path, WRITTEN, fill=[fits, filled(False)]) as made:
        await made.ask(ASKED)
        whole = await made.ask("How many people does Oslo have?")
        for cut in range(2, len(whole) - 1):
            before = len(made.asked)
            past = whole[:cut]
            again = [
                one async for one in run_and_learn(last_request(whole), made.made.deps, name=whole[0].run, past=past)
            ]
            both = [*past, *again]
            if any(isinstance(one.event, SolutionTaken) for one in past):
                assert made.asked[before:] == []
                assert [one.event for one in both if isinstance(one.event, SolutionTaken | ProgramStarted)] == [
                    one.event for one in whole if isinstance(one.event, SolutionTaken | ProgramStarted)
                ]
                assert last(both).answer == last(whole).answer


def last_request(records: Sequence[EventRecord]) -> str:
    return str(getattr(records[0].event, "request", ""))


REMOVED = code(
    'gone = await delete_book(title="Dune")', '{"answered": "yes", "answer": f"{gone[\'deleted\']} removed"}'
)


async def test_a_change_asks_as_any(tmp_path: Path) -> None:
    async with towns(tmp_path, REMOVED) as made:
        made.made.deps = change_deps(made.made.deps, offers=OffersAs([[REMOVE]]))
        await made.ask('Delete the book "Dune".')
        made.made.deps = change_deps(made.made.deps, approver=DenyChangesApprover())
        second = await made.ask('Delete the book "Emma".')
    assert len(taken(second)) == 1
    (call,) = [one.event for one in second if isinstance(one.event, CallFinished)]
    assert call.result.status == "skipped"
    assert made.asked == ["program"]  # it was denied: nothing goes around that


async def test_a_program_that_holds_a_value_of_its_own_is_no_solution(tmp_path: Path) -> None:
    own = code(
        'found = await search_places(city="Oslo")',
        '{"answered": "yes", "answer": f"{found[\'results\'][0][\'population\']}"}',
    )
    async with towns(tmp_path, own) as made:
        assert not learned(await made.ask("How many people live in the capital of Norway?")).solutions


async def test_a_text_whose_author_had_seen_responses_stays_tainted_and_is_shown_to_nobody(tmp_path: Path) -> None:
    kept = solution("t", [REMOVE], 'gone = await delete_book(title=title)\nf"{gone[\'deleted\']} removed"',
                    'Delete the book "{title}".', inputs={"title": {"type": "string"}}, tainted=True)  # fmt: skip
    async with towns(tmp_path, NO_PROGRAM) as made:
        made.made.deps = change_deps(made.made.deps, solutions=Shelf([(kept, 0.9)]))
        records = await made.ask('Delete the book "Emma".')
        await made.ask("Which books are there?")
    assert [one.program.tainted for one in (e.event for e in records) if isinstance(one, ProgramStarted)] == [True]
    assert "delete_book(title=title)" not in made.made.server.requests[-1].prompt


@pytest.mark.parametrize(("whose", "asked_whatever_was_said"), [("", True), ("ann", False)])
async def test_what_another_wrote_brings_no_leave_for_its_changes(
    tmp_path: Path, whose: str, asked_whatever_was_said: bool
) -> None:
    kept = solution("t", [REMOVE], 'gone = await delete_book(title=title)\nf"{gone[\'deleted\']} removed"',
                    'Delete the book "{title}".', inputs={"title": {"type": "string"}})  # fmt: skip
    async with towns(
        tmp_path, NO_PROGRAM, fill=[filled(True, "Please remove the book “{title}”", title="Emma")]
    ) as made:
        store, index = InMemorySolutions(), InMemoryPatterns()
        await SolutionLibrary(store, index, WordEmbedder(), whose, made.made.deps.knowledge.store).add([kept])
        own = SolutionLibrary(store, index, WordEmbedder(), "ann", made.made.deps.knowledge.store)
        made.made.deps = change_deps(made.made.deps, solutions=own)
        first = await made.ask('Please delete the book "Emma".')
        second = await made.ask('Please remove the book "Dune"')
    programs = [one.event.program for one in (*first, *second) if isinstance(one.event, ProgramStarted)]
    assert [one.tainted for one in programs] == [asked_whatever_was_said] * 2


async def test_without_its_library_a_run_goes_on(tmp_path: Path) -> None:
    async with towns(tmp_path, WRITTEN) as made:
        made.made.deps = change_deps(made.made.deps, solutions=Shelf(away=True))
        records = await made.ask(ASKED)
    assert last(records).outcome == "answered"
    assert "on holiday" in learned(records).error
    assert made.asked == ["program"]


async def test_a_follow_up_takes_only_what_names_its_values(tmp_path: Path) -> None:
    whole = solution("w", [GEOCODE], 'str(await search_places(city="Oslo"))', "How many are there?")
    async with towns(tmp_path, WRITTEN, WRITTEN) as made:
        first = await made.ask(ASKED)
        made.made.deps = change_deps(made.made.deps, solutions=Shelf([(whole, 0.9)]))
        records = await made.made.told("How many are there?", earlier=[build_earlier_run(first)])
    assert not taken(records)


async def test_what_goes_on_from_a_request_for_which_nothing_was_found_is_asked_by_nobody_else(tmp_path: Path) -> None:
    async with towns(tmp_path, WRITTEN) as made:
        before = [EarlierRun("a run", "How many people live in that town?", ())]
        records = [one async for one in run_and_learn("And in Paris?", made.made.deps, name="r", earlier=before)]
    assert (last(records).outcome, learned(records).solutions) == ("answered", ())
