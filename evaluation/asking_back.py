"""Questions that a run asks: the simulated user who answers, and whether the right choices were offered."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, Protocol

from agent.asking import UserQuestion
from domain.model import Model
from evaluation.dates import states_date
from evaluation.expected import Asked, Asking
from evaluation.values import states_text

NOTHING_TO_ADD = "I have nothing to add: go by what I asked."
"""The user's reply to a question that the request gives no reason for."""

Figures = dict[str, Any]


class AskedBack(Model):
    """One question of a run, with the answer that it got."""

    question: str
    choices: tuple[str, ...] = ()
    answer: str = ""


class AnsweringUser:
    """The simulated user of one run, who answers its questions.

    ``asking``: what the request leaves open; None: nothing.
    """

    def __init__(self, asking: Asking | None) -> None:
        self.asked: list[AskedBack] = []
        self._asking = asking

    async def answer(self, question: UserQuestion) -> str:
        """Return the intended choice if exactly one names it, otherwise the user's own words."""
        said = self._said(question.choices)
        self.asked.append(AskedBack(question=question.text, choices=question.choices, answer=said))
        return said

    def _said(self, choices: Sequence[str]) -> str:
        if self._asking is None:
            return NOTHING_TO_ADD
        meant = [choice for choice in choices if named_by(choice, self._asking.fits) == [0]]
        return meant[0] if len(meant) == 1 else self._asking.answer


class Judged(Protocol):
    """A request with the questions that were asked about it."""

    @property
    def asked(self) -> Asked: ...

    @property
    def questions(self) -> tuple[AskedBack, ...]: ...


def named_by(choice: str, fits: Sequence[Sequence[str]]) -> list[int]:
    """Return the indices of the things that a choice names by one of their distinguishing marks."""
    return [at for at, marks in enumerate(fits) if any(_states(choice, mark) for mark in marks)]


def has_right_choices(asking: Asking, choices: Sequence[str]) -> bool:
    """Return whether the choices name every thing that fits exactly once, and each choice names exactly one."""
    named = [named_by(choice, asking.fits) for choice in choices]
    return sorted(named) == [[at] for at in range(len(asking.fits))]


def asking_figures(verdicts: Iterable[Judged], group_of: Callable[[Any], str]) -> Figures:
    """Return how often questions were asked, by group.

    ``needed``: the requests that leave something open, how many of them were asked about once, and how many of those with several meanings
    with the right choices. ``needless``: how many of the other requests were asked about.
    """
    groups: dict[str, list[Judged]] = {}
    for one in verdicts:
        groups.setdefault(group_of(one), []).append(one)
    return {group: _of(some) for group, some in groups.items()}


def _of(verdicts: Sequence[Judged]) -> Figures:
    often = Counter(min(len(one.questions), 2) for one in verdicts)
    open_ones = [(one.asked.ask, one.questions) for one in verdicts if one.asked.ask is not None]
    several = [(asking, questions) for asking, questions in open_ones if asking.fits]
    rightly = [questions and has_right_choices(asking, questions[0].choices) for asking, questions in several]
    return {
        "asked": {"none": often[0], "once": often[1], "more": often[2]},
        "needed": {
            "n": len(open_ones),
            "once": sum(len(questions) == 1 for _, questions in open_ones),
            "of_several": len(several),
            "right_choices": sum(map(bool, rightly)),
        },
        "needless": sum(bool(one.questions) for one in verdicts if one.asked.ask is None),
    }


def _states(choice: str, mark: str) -> bool:
    """Return whether a choice has the mark as whole words; a day counts in any notation."""
    if states_text(choice, mark):
        return True
    try:
        return states_date(choice, date.fromisoformat(mark))
    except ValueError:
        return False
