"""What a run that was broken off finds in its log: its decisions, calls and answers by key, and the changes that count against its budget."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from agent import resume_decisions as decisions
from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import ArgumentsQuestion, MoveQuestion, NextMove, PathQuestion, PhraseQuestion, WholePath
from agent.resume import ReplayPolicy, RunLog, SubtaskMemo, open_log
from agent.resume_decisions import DecisionReader, RecordedDecision
from domain.errors import ConflictError
from domain.event import (
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    Event,
    EventRecord,
    InputNeeded,
    MemoryRecalled,
    NoSolution,
    PathEnded,
    PolicyFellBack,
    ProgramFailed,
    ProgramRefused,
    ProgramStarted,
    QuestionAnswered,
    ReflectionMade,
    SolutionTaken,
    StepBacktracked,
    StepChosen,
)
from domain.plan import StepResult
from domain.program import Program, ProgramPlan
from domain.tool import ToolDoc
from tests.support.policy_contract import situation
from tests.support.small_world import BOOKS, GEOCODE, REMOVE, graph
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


def memo(*told: Event) -> SubtaskMemo:
    return RunLog(records(*told), frozenset({REMOVE.id})).get_memo(1)


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
    assert log.count_changes(log.collect_calls(has_ledger=ledger)) == changes


async def test_a_called_tool_that_the_store_lacks_may_change_something() -> None:
    store = await graph(())
    gone = BEGUN.model_copy(update={"tool": "c/t/gone"})
    safe = BEGUN.model_copy(update={"tool": BOOKS.id})
    log = await open_log(records(BEGUN, gone, safe), store)
    assert log.count_changes(log.collect_calls()) == 2


def offered(tool: ToolDoc) -> ToolCandidate:
    return ToolCandidate(tool, 0.5, None, (0.6,), "start")


def at(*tools: ToolDoc) -> MoveQuestion:
    return situation(*(offered(tool) for tool in tools))


def path_over(*tools: ToolDoc) -> PathQuestion:
    return PathQuestion("x", ("x",), (), (), (0.7,), tuple(map(offered, tools)), max_steps=3)


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
        (decisions.read_move(at(GEOCODE, BOOKS)), [CHOSEN], NextMove("advance", "it has books", 1)),
        (decisions.read_move(at(GEOCODE)), [CHOSEN], None),
        (decisions.read_move(at()), [StepBacktracked(dropped=BOOKS.id, path=(), reason="no")], NextMove("backtrack", "no")),
        (decisions.read_move(at()), [FINISHED], NextMove("finish", "enough", unserved="the price")),
        (decisions.read_move(at()), [NO_PATH], None),
        (decisions.read_whole_path(path_over(BOOKS)), [CHOSEN, FINISHED], WholePath((0,), "it has books", "the price")),
        (decisions.read_whole_path(path_over(BOOKS)), [CHOSEN], None),
        (decisions.read_whole_path(path_over(GEOCODE)), [CHOSEN, FINISHED], None),
        (decisions.read_path_reflected, [JUDGED], True),
        (decisions.read_path_reflected, [FINISHED], False),
        (decisions.read_program_requested, [CONSIDERED], None),
        (decisions.read_program_requested, [CONSIDERED, REFUSED], True),
        (decisions.read_program_requested, [CONSIDERED, CHOSEN], False),
        (decisions.read_program_requested, [CONSIDERED, NO_PATH], False),
        (decisions.read_program_requested, [SHOWN, CONSIDERED, NO_PATH], True),
        (decisions.read_program_requested, [TAKEN], True),
        (decisions.read_recalled_memories, [RECALLED, CHOSEN], RECALLED),
        (decisions.read_recalled_memories, [RECALLED], RECALLED),
        (decisions.read_taken_solution, [TAKEN], TAKEN),
        (decisions.read_chosen_solution, [NoSolution(shown=1, reason="none")], NoSolution(shown=1, reason="none")),
        (decisions.read_gave_up, [NO_PATH], True),
        (decisions.read_gave_up, [CONSIDERED], False),
        (decisions.read_shown_program(0), [SHOWN], STARTED.program),
        (decisions.read_shown_program(1), [SHOWN], None),
        (decisions.read_shown_program(0), [SHOWN, STARTED], None),
        (decisions.read_draft, [STARTED], STARTED.program),
        (decisions.read_draft, [REFUSED], REFUSED),
        (decisions.read_started_plan, [STARTED], PLAN),
        (decisions.read_started_plan, [REFUSED], None),
        (decisions.read_restarted, [STARTED], True),
        (decisions.read_restarted, [STARTED.model_copy(update={"goes_on": True})], False),
        (decisions.read_repaired(1), [FAILED], True),
        (decisions.read_repaired(2), [FAILED], False),
        (decisions.read_steps_ended, [BEGUN], False),
        (decisions.read_steps_ended, [FINISHED], True),
    ],
)  # fmt: skip
def test_a_decision_is_read_off_the_log(decision: DecisionReader[Any], told: list[Event], value: object) -> None:
    found = memo(PolicyFellBack(policy="llm", to="offline", reason="busy"), *told).recall(decision)
    assert found == (None if value is None else RecordedDecision(value))


@pytest.mark.parametrize("decision", [decisions.read_recalled_memories, decisions.read_taken_solution, decisions.read_chosen_solution, decisions.read_draft])  # fmt: skip
def test_that_nothing_was_done_is_a_decision_too(decision: DecisionReader[Any]) -> None:
    assert memo(FINISHED).recall(decision) == RecordedDecision(None)
    assert memo().recall(decision) is None


async def test_what_is_recorded_is_not_decided_again_and_what_is_not_is_decided_now() -> None:
    def never() -> bool:
        raise AssertionError

    async def now() -> SolutionTaken | None:
        return TAKEN

    log = memo(FINISHED)
    assert await log.decide(decisions.read_taken_solution, now) is None
    assert not log.decide_sync(decisions.read_path_reflected, never)
    assert log.replay_event(FINISHED)
    assert await log.decide(decisions.read_taken_solution, now) is TAKEN
    assert log.decide_sync(decisions.read_path_reflected, lambda: True)


async def test_a_policy_gives_the_recorded_answers_and_asks_for_those_that_no_event_tells() -> None:
    log, asked = memo(CHOSEN, BEGUN), Scripted("live")
    policy = ReplayPolicy(asked, log)
    assert (await policy.decide(at(BOOKS))).reason == "it has books"
    assert await policy.decide(PhraseQuestion("x", "y")) == "live"
    log.replay_event(CHOSEN)
    assert (await policy.decide(ArgumentsQuestion("x", REMOVE, ()))).values == {"title": "Dune"}
    assert (await policy.decide(at(BOOKS))).reason == "live"
    assert asked.asked == 2


def test_another_course_ends_a_run_only_where_what_is_left_has_changed_something() -> None:
    assert not memo(CHOSEN, READ).replay_event(FINISHED)
    with pytest.raises(ConflictError, match="cannot go on as it began"):
        memo(CHOSEN, BEGUN).replay_event(FINISHED)


ASKED = QuestionAnswered(question="Which?", answer="7")
OF_PROGRAM = ASKED.model_copy(update={"site": "1:9"})


def _site(event: CallStarted | CallFinished, site: str) -> Any:
    return event.model_copy(update={"site": site})


def test_a_programs_calls_and_questions_are_found_by_their_keys_in_the_order_of_their_ends() -> None:
    first, second = _site(BEGUN, "1:0"), _site(READ, "1:5")
    log = memo(STARTED, first, OF_PROGRAM, ASKED, second, _site(finished("Dune"), "1:0"), FAILED)
    assert log.replay_event(STARTED)
    assert log.find_answer("Which?") == ASKED
    found = log.open_program(1)
    (removed, read) = found.steps
    assert [found.is_ahead(removed), found.is_ahead(read)] == [True, True]
    assert found.get_position(read) < found.get_position(removed)
    assert found.replay(removed).arguments == {"title": "Dune"}
    found.skip(read)
    assert [found.is_ahead(removed), found.is_ahead(read)] == [False, False]
    assert (found.answers, found.failure, found.last_step) == ({"1:9": OF_PROGRAM}, FAILED, 1)
    assert (log.open_program(2).steps, log.open_program(2).failure) == ({}, None)


@pytest.mark.parametrize("ahead", [lambda: [BEGUN, READ, BEGUN], lambda: [BEGUN, READ, ASKED, FINISHED]])
def test_the_steps_of_a_path_are_replayed_up_to_the_last_that_has_ended(ahead: Callable[[], list[Event]]) -> None:
    steps = memo(*ahead()).collect_recorded_steps()
    assert [step.event for step in steps] == [BEGUN, READ]
    assert [(step.step, step.result is not None) for step in steps] == [(0, False), (1, True)]
