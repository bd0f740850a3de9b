"""Moves and paths from a model: it names candidates by number, and a number that is not on offer names no tool."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from agent.offer.candidates import Candidate
from agent.policy.protocol import Choice, PathQuestion, Situation, WholePath
from agent.text import clean


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
class Offered:
    """A candidate in the list that is numbered from 1."""

    candidate: Candidate
    after: int | None = None
    """Number of the candidate that this one may follow; None for a candidate for the next step."""


def offered(situation: Situation) -> tuple[Offered, ...]:
    """Return what is shown, in order: the candidates for the next step, then their followers."""
    first = [Offered(candidate) for candidate in situation.candidates]
    behind = [Offered(follower.candidate, follower.after + 1) for follower in situation.followers]
    return (*first, *behind)


def complaint_of(answer: ChoiceAnswer, shown: Sequence[Offered], *, at_start: bool) -> str:
    """Return the complaint about a move for the model to correct; empty if it is right."""
    if answer.action == "finish" and at_start:
        return "nothing can be finished before a first step."
    if answer.action != "advance":
        return ""
    firsts = sum(one.after is None for one in shown)
    number = answer.number or 0
    if 1 <= number <= firsts:
        return ""
    if firsts < number <= len(shown):
        parent = shown[number - 1].after
        return f"number {number} comes after {parent}: advance to {parent}, and then to {number}."
    return f"there is no candidate {answer.number}; they are numbered from 1 to {firsts}."


def choice_of(answer: ChoiceAnswer | None, shown: Sequence[Offered], *, at_start: bool) -> Choice:
    """Convert the answer to a move; no valid answer, or a step back from the start, is a dead end."""
    dead_end = "give_up" if at_start else "backtrack"
    if answer is None:
        return Choice(dead_end, "the model gave no valid move")
    reason = clean(answer.reason, 300) or "no reason given"
    unserved = clean(answer.unserved, 300)
    if answer.action != "advance" or answer.number is None:
        return Choice(dead_end if answer.action == "backtrack" else answer.action, reason, unserved=unserved)
    taken, valid = [answer.number], True
    for number in answer.then:
        one = shown[number - 1] if 1 <= number <= len(shown) and number not in taken else None
        if one is None or (one.after is not None and one.after not in taken):
            valid = False  # the path is cut here, so it cannot be the complete one
            break
        taken.append(number)
    tools = tuple(shown[number - 1].candidate.tool.id for number in taken[1:])
    last = answer.done and valid
    return Choice("advance", reason, answer.number - 1, then=tools, last=last, unserved=unserved)


def path_complaint(answer: PathAnswer, question: PathQuestion) -> str:
    """Return the complaint about a path for the model to correct; empty if it is right."""
    count = len(question.candidates)
    wrong = [number for number in answer.numbers if not 1 <= number <= count]
    return f"there is no candidate {wrong[0]}; they are numbered from 1 to {count}." if wrong else ""


def path_of(answer: PathAnswer | None, question: PathQuestion) -> WholePath:
    """Convert the answer to a path; unknown numbers are left out, and repeated ones count once."""
    if answer is None:
        return WholePath((), "the model gave no valid path")
    steps = [n - 1 for n in dict.fromkeys(answer.numbers) if 1 <= n <= len(question.candidates)]
    reason = clean(answer.reason, 300) or "no reason given"
    return WholePath(tuple(steps[: question.longest]), reason, clean(answer.unserved, 300))
