"""What a run that was broken off finds in its log: its decisions, calls and answers by key, and the changes that count against its budget."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from agent import resume_decisions as decisions
from agent.offer.candidates import Candidate
from agent.policy.protocol import ArgumentsQuestion, Choice, PathQuestion, PhraseQuestion, Situation, WholePath
from agent.resume import Memo, RunLog, open_log
from agent.resume_decisions import Decision, Recorded
from agent.resume_policy import ReplayPolicy
from domain.errors import ConflictError
from domain.event import (
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    Event,
    EventRecord,
    InputNeeded,
    PathEnded,
    PolicyFellBack,
    ProgramFailed,
    ProgramRefused,
    ProgramStarted,
    QuestionAnswered,
    ReflectionMade,
    StepBacktracked,
    StepChosen,
)
from domain.plan import StepResult
from domain.program import Program, ProgramPlan
from domain.recalled import MemoryRecalled
from domain.taken import NoSolution, SolutionTaken
from domain.tool import ToolDoc
from tests.contract.policy import situation
from tests.flows.small_world import BOOKS, GEOCODE, REMOVE, graph
from tests.unit.agent.policy.test_fallback import Scripted


def finished(title: str, attempts: int = 1) -> CallFinished:
    return CallFinished(
        step=1, result=StepResult(tool=REMOVE.id, arguments={"title": title}, status="ok", attempts=attempts)
    )


BEGUN = CallStarted(step=1, tool=REMOVE.id, arguments={"title": "Dune"})
READ = CallFinished(step=1, result=StepResult(tool=BOOKS.id, arguments={"title": "Dune"}, status="ok", attempts=1))


def records(*told: Event) -> list[EventRecord]:
    return [
        EventRecord(run="r", seq=number, at=datetime.now(UTC), subtask=1, event=event)
        for number, event in enumerate(told, start=1)
    ]


def memo(*told: Event) -> Memo:
    return RunLog(records(*told), frozenset({REMOVE.id})).of(1)


@pytest.mark.parametrize(
    ("told", "ledger", "changes"),
    [
        ([], False, 0),
        ([READ], False, 0),
        ([BEGUN, finished("Dune"), READ, finished("Emma")], False, 2),
        ([finished("Dune"), finished("Dune")], False, 1),
        ([finished("Dune", attempts=0)], False, 0),
        ([BEGUN], False, 1),
        ([BEGUN], True, 0),
    ],
    ids=["nothing", "read", "two", "repeated", "not sent", "cut off", "cut off, and the ledger knows of it"],
)
def test_the_changes_that_were_sent_are_counted(told: list[Event], ledger: bool, changes: int) -> None:
    log = RunLog(records(*told), frozenset({REMOVE.id}))
    assert log.count_changes(log.made(ledger=ledger)) == changes


async def test_a_called_tool_that_the_store_lacks_may_change_something() -> None:
    store = await graph(())
    gone = BEGUN.model_copy(update={"tool": "c/t/gone"})
    safe = BEGUN.model_copy(update={"tool": BOOKS.id})
    log = await open_log(records(BEGUN, gone, safe), store)
    assert log.count_changes(log.made()) == 2


def offered(tool: ToolDoc) -> Candidate:
    return Candidate(tool, 0.5, None, (0.6,), "start")


def at(*tools: ToolDoc) -> Situation:
    return situation(*(offered(tool) for tool in tools))


def path_over(*tools: ToolDoc) -> PathQuestion:
    return PathQuestion("x", ("x",), (), (), (0.7,), tuple(map(offered, tools)), longest=3)


CHOSEN = StepChosen(tool=BOOKS.id, path=(BOOKS.id,), reason="it has books")
CONSIDERED = CandidatesConsidered(path=(), candidates=(), finish_weight=0.1)
FINISHED = PathEnded(path=(BOOKS.id,), how="finished", reason="enough", unserved="the price")
NO_PATH = PathEnded(path=(), how="gave_up", reason="none")
TAKEN = SolutionTaken(solution="s", pattern="p", likeness=0.9, how="plain")
STARTED = ProgramStarted(number=1, program=Program(text="1", tools={}), goes_on=False)
PLAN = ProgramPlan(program=STARTED.program)
REFUSED = ProgramRefused(text="x(", complaints=("no",))
FAILED = ProgramFailed(number=1, error="it broke off")
JUDGED = ReflectionMade(path=(BOOKS.id,), verdict="success", reason="fine", resumed=False)
RECALLED = MemoryRecalled(memories=(), note="slow")
SHOWN = InputNeeded(input="plan-1", asks="plan", reason="Is it?", program=PLAN)


@pytest.mark.parametrize(
    ("decision", "told", "value"),
    [
        (decisions.move(at(GEOCODE, BOOKS)), [CHOSEN], Choice("advance", "it has books", 1)),
        (decisions.move(at(GEOCODE)), [CHOSEN], None),
        (decisions.move(at()), [StepBacktracked(dropped=BOOKS.id, path=(), reason="no")], Choice("backtrack", "no")),
        (decisions.move(at()), [FINISHED], Choice("finish", "enough", unserved="the price")),
        (decisions.move(at()), [NO_PATH], None),
        (decisions.whole_path(path_over(BOOKS)), [CHOSEN, FINISHED], WholePath((0,), "it has books", "the price")),
        (decisions.whole_path(path_over(BOOKS)), [CHOSEN], None),
        (decisions.whole_path(path_over(GEOCODE)), [CHOSEN, FINISHED], None),
        (decisions.is_path_judged, [JUDGED], True),
        (decisions.is_path_judged, [FINISHED], False),
        (decisions.programs_asked_for, [CONSIDERED], None),
        (decisions.programs_asked_for, [CONSIDERED, REFUSED], True),
        (decisions.programs_asked_for, [CONSIDERED, CHOSEN], False),
        (decisions.programs_asked_for, [CONSIDERED, NO_PATH], False),
        (decisions.programs_asked_for, [SHOWN, CONSIDERED, NO_PATH], True),
        (decisions.programs_asked_for, [TAKEN], True),
        (decisions.recalled_memories, [RECALLED, CHOSEN], RECALLED),
        (decisions.recalled_memories, [RECALLED], RECALLED),
        (decisions.taken_solution, [TAKEN], TAKEN),
        (decisions.chosen_solution, [NoSolution(shown=1, reason="none")], NoSolution(shown=1, reason="none")),
        (decisions.gives_up, [NO_PATH], True),
        (decisions.gives_up, [CONSIDERED], False),
        (decisions.shown_program(0), [SHOWN], STARTED.program),
        (decisions.shown_program(1), [SHOWN], None),
        (decisions.shown_program(0), [SHOWN, STARTED], None),
        (decisions.draft, [STARTED], STARTED.program),
        (decisions.draft, [REFUSED], REFUSED),
        (decisions.started_plan, [STARTED], PLAN),
        (decisions.started_plan, [REFUSED], None),
        (decisions.begins_anew, [STARTED], True),
        (decisions.begins_anew, [STARTED.model_copy(update={"goes_on": True})], False),
        (decisions.is_mended(1), [FAILED], True),
        (decisions.is_mended(2), [FAILED], False),
        (decisions.called_by_steps, [BEGUN], True),
        (decisions.called_by_steps, [BEGUN.model_copy(update={"site": "1:0"})], None),
        (decisions.steps_ended, [BEGUN], False),
        (decisions.steps_ended, [FINISHED], True),
    ],
)  # fmt: skip
def test_a_decision_is_read_off_the_log(decision: Decision[Any], told: list[Event], value: object) -> None:
    found = memo(PolicyFellBack(policy="llm", to="offline", reason="busy"), *told).recall(decision)
    assert found == (None if value is None else Recorded(value))


@pytest.mark.parametrize("decision", [decisions.recalled_memories, decisions.taken_solution, decisions.chosen_solution, decisions.draft])  # fmt: skip
def test_that_nothing_was_done_is_a_decision_too(decision: Decision[Any]) -> None:
    assert memo(FINISHED).recall(decision) == Recorded(None)
    assert memo().recall(decision) is None


async def test_what_is_recorded_is_not_decided_again_and_what_is_not_is_decided_now() -> None:
    def never() -> bool:
        raise AssertionError

    async def now() -> SolutionTaken | None:
        return TAKEN

    log = memo(FINISHED)
    assert await log.decide(decisions.taken_solution, now) is None
    assert not log.settle(decisions.is_path_judged, never)
    assert log.replays(FINISHED)
    assert await log.decide(decisions.taken_solution, now) is TAKEN
    assert log.settle(decisions.is_path_judged, lambda: True)


async def test_a_policy_gives_the_recorded_answers_and_asks_for_those_that_no_event_tells() -> None:
    log, asked = memo(CHOSEN, BEGUN), Scripted("live")
    policy = ReplayPolicy(asked, log)
    assert (await policy.decide(at(BOOKS))).reason == "it has books"
    assert await policy.decide(PhraseQuestion("x", "y")) == "live"
    log.replays(CHOSEN)
    assert (await policy.decide(ArgumentsQuestion("x", REMOVE, ()))).values == {"title": "Dune"}
    assert (await policy.decide(at(BOOKS))).reason == "live"
    assert asked.asked == 2


def test_another_course_ends_a_run_only_where_what_is_left_has_changed_something() -> None:
    assert not memo(CHOSEN, READ).replays(FINISHED)
    with pytest.raises(ConflictError, match="cannot go on as it began"):
        memo(CHOSEN, BEGUN).replays(FINISHED)


ASKED = QuestionAnswered(question="Which?", answer="7")
OF_PROGRAM = ASKED.model_copy(update={"site": "1:9"})


def _site(event: CallStarted | CallFinished, site: str) -> Any:
    return event.model_copy(update={"site": site})


def test_a_programs_calls_and_questions_are_found_by_their_keys_in_the_order_of_their_ends() -> None:
    first, second = _site(BEGUN, "1:0"), _site(READ, "1:5")
    log = memo(STARTED, first, OF_PROGRAM, ASKED, second, _site(finished("Dune"), "1:0"), FAILED)
    assert log.replays(STARTED)
    assert log.answer("Which?") == ASKED
    found = log.program(1)
    (removed, read) = found.steps
    assert [found.is_ahead(removed), found.is_ahead(read)] == [True, True]
    assert found.place(read) < found.place(removed)
    assert found.replay(removed).arguments == {"title": "Dune"}
    found.skip(read)
    assert [found.is_ahead(removed), found.is_ahead(read)] == [False, False]
    assert (found.answers, found.broke_off, found.last_step) == ({"1:9": OF_PROGRAM}, FAILED, 1)
    assert (log.program(2).steps, log.program(2).broke_off) == ({}, None)


@pytest.mark.parametrize("ahead", [lambda: [BEGUN, READ, BEGUN], lambda: [BEGUN, READ, ASKED, FINISHED]])
def test_the_steps_of_a_path_are_replayed_up_to_the_last_that_has_ended(ahead: Callable[[], list[Event]]) -> None:
    steps = memo(*ahead()).steps()
    assert [step.event for step in steps] == [BEGUN, READ]
    assert [(step.step, step.result is not None) for step in steps] == [(0, False), (1, True)]
