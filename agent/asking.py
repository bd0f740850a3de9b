"""Asking the user what a request leaves open: a value that is needed and missing, or which of several things is meant.

How a run waits for a person. The run awaits ``Asker.answer``. An asker at a terminal returns when its user has typed something. An asker of a server does
not return while the answer is open: a run that waits holds no process. The worker cancels the run's task, keeps its events, and lets go of it
(:mod:`server.runs.questions`). When the answer is there, a worker begins the run again with those events as its past. The run goes the same way over them (:mod:`agent.resume`), comes to the same
question, and asks it under the same identity; now the asker returns the answer at once. So nothing here waits with a timer, and whatever stands
between a run and its asker must let a cancellation through. Plans and calls that wait for leave wait in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent.execution.provenance import Provenance
from agent.execution.redaction import looks_secret
from agent.execution.user_values import plain
from agent.stopwatch import Stopwatch
from agent.text import clean
from domain.event import QuestionAnswered

MOST = 3
"""Questions of one run."""
MOST_CHOICES = 20
LONGEST_ANSWER = 1000
"""Characters of an answer."""
_QUESTION = 300
_CHOICE = 120
_NOBODY = "nobody could be asked"
_NOT_SAID = "its user did not answer"
_TOO_MANY = f"a run asks at most {MOST} questions"
_STRANGERS = (
    " The program that asks is a solution that users share: somebody else may have written it, and decides where your answer goes. "
    "Tell it no password, no key and no card number."
)
_SECRET = "its user gave what looks like a key or a card number, and a solution that users share is told none"  # noqa: S105  # none itself
_TAINTED = " What it asks may be the wording of what tools answered. Tell it no password and no key."


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """``identity``: the same however often its run is taken up. ``choices``: answers that it proposes, cleaned. ``tainted``: whoever wrote it
    had seen words of a response. ``foreign``: it holds such words itself, or may;
    ``theirs``: those of its choices that do. ``strangers``: the program that asks may be another user's.
    """

    identity: str
    text: str
    choices: tuple[str, ...] = ()
    tainted: bool = False
    foreign: bool = False
    theirs: frozenset[str] = frozenset()
    strangers: bool = False

    @property
    def framed(self) -> str:
        """As a person is shown it: always as the plan's question, never as ours."""
        warned = _STRANGERS if self.strangers else _TAINTED if self.tainted or self.foreign else ""
        return f"The plan asks: “{self.text}”{warned}"

    def chosen(self, given: str | int) -> str:
        """An answer that was given as a text, or as the place of a choice, from 0; empty where it says nothing or there is no such choice."""
        if isinstance(given, int):
            return self.choices[given] if 0 <= given < len(self.choices) else ""
        said = clean(given, LONGEST_ANSWER)
        return next((one for one in self.choices if plain(one) == plain(said)), said)


def question(
    identity: str,
    text: str,
    choices: Sequence[str] = (),
    *,
    tainted: bool = False,
    foreign: bool = False,
    own: str | None = None,
    strangers: bool = False,
) -> UserQuestion:
    """A question, cleaned and cut to what a person reads. ``own``: the text of the program that asks it; None: the choices are ours."""
    shown = _shown(choices)
    theirs = frozenset(said for said, one in shown.items() if own is not None and one not in own)
    more = f" (and {len(shown) - MOST_CHOICES} more: say which in your own words)" if len(shown) > MOST_CHOICES else ""
    told = f"{clean(text, _QUESTION - len(more))}{more}"
    return UserQuestion(identity, told, tuple(shown)[:MOST_CHOICES], tainted, foreign, theirs, strangers)


def choice_of(choices: Sequence[str], answer: str) -> str:
    """The choice as it was given, of which the answer is what was shown; an answer in other words is itself."""
    return _shown(choices).get(answer, answer)


def _shown(choices: Sequence[str]) -> dict[str, str]:
    """Choices by what is shown of them: of those that begin alike, each has its number, so that they stay apart."""
    found: dict[str, str] = {}
    whole = set[str]()
    for one in choices:
        said, plainly = clean(one, _CHOICE), clean(one, LONGEST_ANSWER)
        if not said or plainly in whole:
            continue
        whole.add(plainly)
        number = len(whole)
        while said in found:
            said, number = f"{number}: {clean(one, _CHOICE)}", number + 1
        found[said] = one
    return found


class Asker(Protocol):
    """A run's user, as far as they can be asked something."""

    async def answer(self, question: UserQuestion) -> str | None:
        """What they say, one of the choices or a text of their own; None where they do not want to answer."""
        ...


class NobodyThere:
    """Nobody can be asked."""

    async def answer(self, question: UserQuestion) -> str | None:  # noqa: ARG002  the protocol's
        """None: never called, since who asks looks first."""
        return None


@dataclass
class Asking:
    """One run's questions. ``said``: what its user has said so far, answers included. ``answered``: what was asked and answered, in order.

    The time that an answer takes is none of the run's. The same question is asked once.
    """

    asker: Asker
    provenance: Provenance
    stopwatch: Stopwatch
    said: list[str]
    answered: list[QuestionAnswered] = field(default_factory=list[QuestionAnswered])
    foreign: bool = False

    @property
    def somebody(self) -> bool:
        """Whether there is anybody to be asked."""
        return not isinstance(self.asker, NobodyThere)

    def knows(self, question: UserQuestion) -> bool:
        """Whether it was asked before: whoever wrote a text since was told the answer."""
        return any((one.question, one.choices) == (question.text, question.choices) for one in self.answered)

    async def ask(
        self, question: UserQuestion, site: str = "", recorded: QuestionAnswered | None = None
    ) -> QuestionAnswered:
        """What became of a question. ``recorded``: that, where it was asked before the run was broken off."""
        event = recorded or await self._asked(question, site)
        self.foreign = self.foreign or question.foreign
        self.take(event, picked=event.answer in question.theirs)
        return event

    def take(self, event: QuestionAnswered, *, picked: bool = False) -> None:
        """Take in what was asked and answered; it may be told again. ``picked``: it is a choice that no program's text holds: chosen, not said."""
        if not any(_same(one, event) for one in self.answered):
            self.answered.append(event)
            if not event.unanswered and not picked:
                self.provenance.say(event.answer)
                self.said.append(event.answer)

    async def _asked(self, question: UserQuestion, site: str) -> QuestionAnswered:
        event = QuestionAnswered(question=question.text, choices=question.choices, site=site)
        before = next((one for one in self.answered if _same(one, event)), None)
        if before is not None:
            return before.model_copy(update={"site": site})
        if not self.somebody:
            return event.model_copy(update={"unanswered": _NOBODY})
        if len({(one.question, one.choices) for one in self.answered}) >= MOST:
            return event.model_copy(update={"unanswered": _TOO_MANY})
        with self.stopwatch.standing_still():
            given = await self.asker.answer(question)
        answer = question.chosen(given) if given is not None else ""
        if question.strangers and answer not in question.choices and looks_secret(answer):
            return event.model_copy(update={"unanswered": _SECRET})
        return event.model_copy(update={"answer": answer} if answer else {"unanswered": _NOT_SAID})


def _same(one: QuestionAnswered, other: QuestionAnswered) -> bool:
    return (one.question, one.choices) == (other.question, other.choices)


def still_open(event: QuestionAnswered) -> str:
    """What is to be said of a question that nobody answered."""
    proposed = f" ({clean('; '.join(event.choices), 400)})" if event.choices else ""
    return f"it needs to know: “{event.question}”{proposed}, and {event.unanswered}"
