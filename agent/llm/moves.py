"""Moves and paths from a model: it names candidates by number, and a number that is not on offer names no tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import MoveQuestion, NextMove, PathQuestion, WholePath
from agent.text import clean_text


class ChoiceAnswer(BaseModel):
    """The model's answer (``agent/prompts/choose.md``).

    ``choose_by_result.md`` asks for one number only.
    """

    reason: str
    action: Literal["advance", "finish", "backtrack", "give_up"]
    number: int | None = None
    then: list[int] = []
    """Numbers of further candidates that follow ``number``."""
    done: bool = False
    """The path is complete after these."""
    unserved: str = ""
    """Part of the request that a finished path leaves undone."""


class PathAnswer(BaseModel):
    """The model's answer (``agent/prompts/whole_path.md``)."""

    thoughts: list[str] = []
    reason: str
    numbers: list[int]
    unserved: str = ""
    """Part of the request that the whole path leaves undone."""


@dataclass(frozen=True, slots=True)
class NumberedCandidate:
    """A candidate in the list that is numbered from 1."""

    candidate: ToolCandidate
    after: int | None = None
    """Number of the candidate that this one may follow; None for a candidate for the next step."""


def number_candidates(situation: MoveQuestion) -> tuple[NumberedCandidate, ...]:
    """Return what is shown, in order: the candidates for the next step, then their followers."""
    candidates = [NumberedCandidate(candidate) for candidate in situation.candidates]
    followers = [NumberedCandidate(follower.candidate, follower.after + 1) for follower in situation.followers]
    return (*candidates, *followers)


def check_move(answer: ChoiceAnswer, numbered: Sequence[NumberedCandidate], *, at_start: bool) -> str:
    """Return the complaint about a move for the model to correct; empty if it is right."""
    if answer.action == "finish" and at_start:
        return "nothing can be finished before a first step."
    if answer.action != "advance":
        return ""
    first_step_count = sum(candidate.after is None for candidate in numbered)
    number = answer.number or 0
    if 1 <= number <= first_step_count:
        return ""
    if first_step_count < number <= len(numbered):
        parent = numbered[number - 1].after
        return f"number {number} comes after {parent}: advance to {parent}, and then to {number}."
    return f"there is no candidate {answer.number}; they are numbered from 1 to {first_step_count}."


def to_next_move(answer: ChoiceAnswer | None, numbered: Sequence[NumberedCandidate], *, at_start: bool) -> NextMove:
    """Convert the answer to a move; no valid answer, or a step back from the start, is a dead end."""
    dead_end = "give_up" if at_start else "backtrack"
    if answer is None:
        return NextMove(dead_end, "the model gave no valid move")
    reason = clean_text(answer.reason, 300) or "no reason given"
    unserved = clean_text(answer.unserved, 300)
    if answer.action != "advance" or answer.number is None:
        return NextMove(dead_end if answer.action == "backtrack" else answer.action, reason, unserved=unserved)
    chosen_numbers, valid = [answer.number], True
    for number in answer.then:
        candidate = numbered[number - 1] if 1 <= number <= len(numbered) and number not in chosen_numbers else None
        if candidate is None or (candidate.after is not None and candidate.after not in chosen_numbers):
            valid = False  # the path is cut here, so it cannot be the complete one
            break
        chosen_numbers.append(number)
    tools = tuple(numbered[number - 1].candidate.tool.id for number in chosen_numbers[1:])
    last = answer.done and valid
    return NextMove("advance", reason, answer.number - 1, next_tools=tools, completes_path=last, unserved=unserved)


def check_path(answer: PathAnswer, question: PathQuestion) -> str:
    """Return the complaint about a path for the model to correct; empty if it is right."""
    count = len(question.candidates)
    unknown_numbers = [number for number in answer.numbers if not 1 <= number <= count]
    return (
        f"there is no candidate {unknown_numbers[0]}; they are numbered from 1 to {count}." if unknown_numbers else ""
    )


def to_whole_path(answer: PathAnswer | None, question: PathQuestion) -> WholePath:
    """Convert the answer to a path; unknown numbers are left out, and repeated ones count once."""
    if answer is None:
        return WholePath((), "the model gave no valid path")
    steps = [n - 1 for n in dict.fromkeys(answer.numbers) if 1 <= n <= len(question.candidates)]
    reason = clean_text(answer.reason, 300) or "no reason given"
    return WholePath(tuple(steps[: question.max_steps]), reason, clean_text(answer.unserved, 300))
