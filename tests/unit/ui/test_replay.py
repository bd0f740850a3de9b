"""A run after each of its events is what those events add up to, whichever way one comes there."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    Event,
    EventRecord,
    ProgramEnded,
    ProgramStarted,
    RunFinished,
    RunStarted,
)
from domain.plan import StepResult
from domain.program import Program
from domain.tool import make_tool_id
from domain.usage import Usage
from tests.unit.ui.telling import raw
from ui.event_words import event_told
from ui.replay import Replay
from ui.run_state import RunState, run_state
from ui.stream import Told

TOOL, TEXT = make_tool_id("c", "Set", "get_item"), "for n in range(9):\n    await get_item(n=n)\n'done'"
BEGAN = datetime(2026, 1, 2, tzinfo=UTC)


def events() -> list[Told]:
    """A program with nine calls side by side, a kind that nobody knows and a question."""
    found: list[Event] = [RunStarted(request="all", planner="program", policy="offline")]
    found.append(ProgramStarted(number=1, program=Program(text=TEXT, tools={"get_item": TOOL})))
    sites = [f"1:{TEXT.index('get_item')}#0-{n}" for n in range(9)]
    found += [CallStarted(step=n + 1, tool=TOOL, arguments={"n": n}, site=sites[n]) for n in range(9)]
    for n in range(9):
        result = StepResult(tool=TOOL, arguments={"n": n}, status="failed" if n == 4 else "ok", response="[]")
        found.append(CallFinished(step=n + 1, result=result, site=sites[n]))
    found += [ProgramEnded(number=1, answered="yes", answer="done", verdict="yes"), AnswerDelta(text="do")]
    found.append(RunFinished(outcome="answered", answer="done", usage=Usage()))
    told = [
        Told(seq, one.kind, EventRecord(run="r", seq=seq, at=BEGAN + timedelta(seconds=seq), subtask=1, event=one).model_dump_json())
        for seq, one in enumerate(found, 1)
    ]  # fmt: skip
    between = [raw(1, {"kind": "never.heard.of"}), raw(1, {"kind": "input.needed", "input": "q", "reason": "May I?"})]
    return [replace(one, seq=seq) for seq, one in enumerate([*told[:5], *between, *told[5:]], 1)]


def shown(story: RunState) -> tuple[object, ...]:
    calls = [(call.number, call.arguments, call.result and call.result.status) for call in story.calls]
    texts = [(one.became, one.lines(lambda _: False)) for one in story.programs.texts]
    return story.seq, story.answer, story.finished, story.skipped, list(story.questions), calls, texts


def test_every_place_is_reached_from_every_other() -> None:
    told = events()
    replay, anywhere = Replay(told), Random(7)
    places = [*range(len(told) + 1), *(anywhere.randrange(len(told) + 1) for _ in range(200))]
    expected = [shown(run_state(told[:place])) for place in range(len(told) + 1)]
    for place in places:
        assert shown(replay.at(place)) == expected[place]


def test_an_event_is_told_with_when_it_came() -> None:
    replay = Replay(events())
    words = [event_told(replay.event(number)) for number in range(1, len(replay) + 1)]
    assert words[:3] == ["The run began", "Program 1 began", "Called Set / get_item"]
    assert (words[5], words[6], words[-1]) == ("never.heard.of", "Asked its user", "The run has ended: Answered")
    assert "Set / get_item has ended: failed" in words
    assert (replay.seconds(1), replay.seconds(5), replay.seconds(len(replay))) == (0, 4, len(replay) - 3)
