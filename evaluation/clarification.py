"""Questions that a run asks: the simulated user who answers, and whether the right choices were offered."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any, Protocol

from agent.user_questions import UserQuestion
from domain.model import Model
from evaluation.dates import states_date
from evaluation.evaluation_cases import ClarificationNeed, EvaluationCase
from evaluation.values import states_text

NOTHING_TO_ADD = "I have nothing to add: go by what I asked."
"""The user's reply to a question that the request gives no reason for."""

Figures = dict[str, Any]


class ClarificationQuestion(Model):
    """One question of a run, with the answer that it got."""

    question: str
    choices: tuple[str, ...] = ()
    answer: str = ""


class SimulatedUser:
    """The simulated user of one run, who answers its questions.

    ``asking``: what the request leaves open; None: nothing.
    """

    def __init__(self, asking: ClarificationNeed | None) -> None:
        self.questions: list[ClarificationQuestion] = []
        self._asking = asking

    async def answer(self, question: UserQuestion) -> str:
        """Return the intended choice if exactly one names it, otherwise the user's own words."""
        reply = self._choose_reply(question.choices)
        self.questions.append(ClarificationQuestion(question=question.text, choices=question.choices, answer=reply))
        return reply

    def _choose_reply(self, choices: Sequence[str]) -> str:
        if self._asking is None:
            return NOTHING_TO_ADD
        matches = [choice for choice in choices if find_named(choice, self._asking.fits) == [0]]
        return matches[0] if len(matches) == 1 else self._asking.answer


class ClarifiedRequest(Protocol):
    """A request with the questions that were asked about it."""

    @property
    def case(self) -> EvaluationCase: ...

    @property
    def questions(self) -> tuple[ClarificationQuestion, ...]: ...


def find_named(choice: str, fits: Sequence[Sequence[str]]) -> list[int]:
    """Return the indices of the things that a choice names by one of their distinguishing marks."""
    return [at for at, marks in enumerate(fits) if any(_states_mark(choice, mark) for mark in marks)]


def has_right_choices(asking: ClarificationNeed, choices: Sequence[str]) -> bool:
    """Return whether the choices name every thing that fits exactly once, and each choice names exactly one."""
    matches = [find_named(choice, asking.fits) for choice in choices]
    return sorted(matches) == [[at] for at in range(len(asking.fits))]


def compute_clarification_figures(verdicts: Iterable[ClarifiedRequest], group_of: Callable[[Any], str]) -> Figures:
    """Return how often questions were asked, by group.

    ``needed``: the requests that leave something open, how many of them were asked about once, and how many of those with several meanings
    with the right choices. ``needless``: how many of the other requests were asked about.
    """
    groups: dict[str, list[ClarifiedRequest]] = {}
    for verdict in verdicts:
        groups.setdefault(group_of(verdict), []).append(verdict)
    return {group: _compute_group_figures(some) for group, some in groups.items()}


def _compute_group_figures(verdicts: Sequence[ClarifiedRequest]) -> Figures:
    question_counts = Counter(min(len(one.questions), 2) for one in verdicts)
    open_requests = [(one.case.ask, one.questions) for one in verdicts if one.case.ask is not None]
    several = [(asking, questions) for asking, questions in open_requests if asking.fits]
    rightly_asked = [questions and has_right_choices(asking, questions[0].choices) for asking, questions in several]
    return {
        "asked": {"none": question_counts[0], "once": question_counts[1], "more": question_counts[2]},
        "needed": {
            "n": len(open_requests),
            "once": sum(len(questions) == 1 for _, questions in open_requests),
            "of_several": len(several),
            "right_choices": sum(map(bool, rightly_asked)),
        },
        "needless": sum(bool(one.questions) for one in verdicts if one.case.ask is None),
    }


def _states_mark(choice: str, mark: str) -> bool:
    """Return whether a choice has the mark as whole words; a day counts in any notation."""
    if states_text(choice, mark):
        return True
    try:
        return states_date(choice, date.fromisoformat(mark))
    except ValueError:
        return False
