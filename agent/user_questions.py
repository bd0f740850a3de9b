"""Questions to the user about what a request leaves open: a missing value, or which of several things is meant.

A run waits for a person by awaiting :meth:`UserChannel.answer`. At a terminal it returns when the user has typed
something. On a server it does not return while the question is open, because a waiting run must not hold a process:
the worker cancels the task of the run, keeps its events and releases the run (:mod:`server.runs.questions`). When the
answer arrives, a worker starts the run again with those events. The run replays them (:mod:`agent.resume`), reaches
the same question and asks it under the same identity; this time the answer is returned at once. Therefore nothing
here may wait with a timer, and everything between a run and its user must let a cancellation through. Plans and calls
wait for approval in the same way.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from agent.budget import Stopwatch
from agent.execution.provenance import ProvenanceTracker
from agent.execution.redaction import contains_secret
from agent.execution.value_search import normalize_text
from agent.text import clean_text
from domain.event import QuestionAnswered

MAX_QUESTIONS = 3
"""Limit of questions in one run."""
MAX_CHOICES = 20
"""Limit of choices that are shown with a question."""
MAX_ANSWER_CHARS = 1000
"""Limit of an answer, in characters."""
_MAX_QUESTION_CHARS = 300
_MAX_CHOICE_CHARS = 120
_NO_USER = "nobody could be asked"
_NO_ANSWER = "its user did not answer"
_TOO_MANY_QUESTIONS = f"a run asks at most {MAX_QUESTIONS} questions"
_UNTRUSTED_AUTHOR_WARNING = (
    " The program that asks is a solution that users share: somebody else may have written it, and decides where your answer goes. "
    "Tell it no password, no key and no card number."
)
_SECRET_WITHHELD = "its user gave what looks like a key or a card number, and a solution that users share is told none"  # noqa: S105  # none itself
_TAINTED_WARNING = " What it asks may be the wording of what tools answered. Tell it no password and no key."


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """A question to the user, cleaned and cut for display."""

    identity: str
    """Identifies the question; it is the same however often the run is resumed."""
    text: str
    choices: tuple[str, ...] = ()
    """Proposed answers, cleaned."""
    is_tainted: bool = False
    """True if the author of the question had seen words of a tool's response."""
    may_quote_response: bool = False
    """True if the question may contain words of a response."""
    foreign_choices: frozenset[str] = frozenset()
    """Choices that may contain words of a response, so that picking one does not make it the user's own statement."""
    has_untrusted_author: bool = False
    """True if the program that asks may have been written by another user."""

    @property
    def display_text(self) -> str:
        """The text shown to a person: attributed to the plan, with a warning if its words are not trusted."""
        warning = (
            _UNTRUSTED_AUTHOR_WARNING
            if self.has_untrusted_author
            else _TAINTED_WARNING
            if self.is_tainted or self.may_quote_response
            else ""
        )
        return f"The plan asks: “{self.text}”{warning}"

    def resolve_answer(self, reply: str | int) -> str:
        """Return the answer for a reply, which is a text or the index of a choice (from 0).

        The result is empty if the text is blank or there is no such choice.
        """
        if isinstance(reply, int):
            return self.choices[reply] if 0 <= reply < len(self.choices) else ""
        text_answer = clean_text(reply, MAX_ANSWER_CHARS)
        return next(
            (choice for choice in self.choices if normalize_text(choice) == normalize_text(text_answer)), text_answer
        )


def build_user_question(
    identity: str,
    text: str,
    choices: Sequence[str] = (),
    *,
    is_tainted: bool = False,
    may_quote_response: bool = False,
    program_text: str | None = None,
    has_untrusted_author: bool = False,
) -> UserQuestion:
    """Build a question, cleaned and cut to a readable length.

    Args:
        identity: identifies the question in resumed runs.
        text: the question.
        choices: proposed answers.
        is_tainted: the author of the question had seen words of a response.
        may_quote_response: the question may contain words of a response.
        program_text: text of the program that asks. A choice that it does not contain must come from a response. None
            if no program asks; the choices are then this application's own.
        has_untrusted_author: the program that asks may have been written by another user.
    """
    labels = _label_choices(choices)
    foreign_choices = frozenset(
        label for label, choice in labels.items() if program_text is not None and choice not in program_text
    )
    more_note = (
        f" (and {len(labels) - MAX_CHOICES} more: say which in your own words)" if len(labels) > MAX_CHOICES else ""
    )
    cut_text = f"{clean_text(text, _MAX_QUESTION_CHARS - len(more_note))}{more_note}"
    return UserQuestion(
        identity,
        cut_text,
        tuple(labels)[:MAX_CHOICES],
        is_tainted,
        may_quote_response,
        foreign_choices,
        has_untrusted_author,
    )


def restore_choice(choices: Sequence[str], answer: str) -> str:
    """Return the choice whose displayed form is the answer; any other answer is returned unchanged."""
    return _label_choices(choices).get(answer, answer)


def _label_choices(choices: Sequence[str]) -> dict[str, str]:
    """Return the choices by their displayed form; choices that look alike once they are cut get a number in front."""
    labelled: dict[str, str] = {}
    seen = set[str]()
    for choice in choices:
        label, full_text = clean_text(choice, _MAX_CHOICE_CHARS), clean_text(choice, MAX_ANSWER_CHARS)
        if not label or full_text in seen:
            continue
        seen.add(full_text)
        number = len(seen)
        while label in labelled:
            label, number = f"{number}: {clean_text(choice, _MAX_CHOICE_CHARS)}", number + 1
        labelled[label] = choice
    return labelled


class UserChannel(Protocol):
    """A way to ask the user of a run."""

    async def answer(self, question: UserQuestion) -> str | None:
        """Return one of the choices or the user's own text; None if the user does not want to answer."""
        ...


class NoUser:
    """Channel of a run whose user cannot be asked."""

    async def answer(self, question: UserQuestion) -> str | None:  # noqa: ARG002  the protocol's
        """Return None. Not called in practice: callers check ``UserQuestions.has_user`` first."""
        return None


@dataclass
class UserQuestions:
    """Questions of one run; each is asked once, and waiting for answers does not count as time of the run."""

    channel: UserChannel
    """Passes questions to the user."""
    provenance: ProvenanceTracker
    """Records answers as statements of the user."""
    stopwatch: Stopwatch
    """Paused while the user answers."""
    statements: list[str]
    """The user's statements so far, answers included."""
    answered: list[QuestionAnswered] = field(default_factory=list[QuestionAnswered])
    """Questions asked so far with their results, in order."""
    may_have_quoted_response: bool = False
    """True if a question so far may have contained words of a response."""

    @property
    def has_user(self) -> bool:
        """Return whether there is a user who can be asked."""
        return not isinstance(self.channel, NoUser)

    def has_answered(self, question: UserQuestion) -> bool:
        """Return whether the question was asked before; programs written since then know its answer."""
        return any((event.question, event.choices) == (question.text, question.choices) for event in self.answered)

    async def ask(
        self, question: UserQuestion, site: str = "", recorded: QuestionAnswered | None = None
    ) -> QuestionAnswered:
        """Ask a question and return its result.

        Args:
            question: the question.
            site: place of the question in the text of the program that asks; empty if none does.
            recorded: the result from before the run was interrupted; if given, nobody is asked again.
        """
        event = recorded or await self._ask_once(question, site)
        self.may_have_quoted_response = self.may_have_quoted_response or question.may_quote_response
        self.record_answer(event, is_foreign_choice=event.answer in question.foreign_choices)
        return event

    def record_answer(self, event: QuestionAnswered, *, is_foreign_choice: bool = False) -> None:
        """Record a question with its answer; recording it twice has no effect.

        With ``is_foreign_choice`` the answer is a choice that came from a response. The user picked it but did not say
        it, so it does not become a statement of the user.
        """
        if not any(_is_same_question(recorded, event) for recorded in self.answered):
            self.answered.append(event)
            if not event.unanswered and not is_foreign_choice:
                self.provenance.record_user_answer(event.answer)
                self.statements.append(event.answer)

    async def _ask_once(self, question: UserQuestion, site: str) -> QuestionAnswered:
        """Return the earlier answer to the same question; else ask the user, if a further question is allowed."""
        event = QuestionAnswered(question=question.text, choices=question.choices, site=site)
        earlier = next((recorded for recorded in self.answered if _is_same_question(recorded, event)), None)
        if earlier is not None:
            return earlier.model_copy(update={"site": site})
        if not self.has_user:
            return event.model_copy(update={"unanswered": _NO_USER})
        if len({(recorded.question, recorded.choices) for recorded in self.answered}) >= MAX_QUESTIONS:
            return event.model_copy(update={"unanswered": _TOO_MANY_QUESTIONS})
        with self.stopwatch.pause():
            reply = await self.channel.answer(question)
        answer = question.resolve_answer(reply) if reply is not None else ""
        # A program of another user decides where the answer goes, so a secret is not passed on.
        if question.has_untrusted_author and answer not in question.choices and contains_secret(answer):
            return event.model_copy(update={"unanswered": _SECRET_WITHHELD})
        return event.model_copy(update={"answer": answer} if answer else {"unanswered": _NO_ANSWER})


def _is_same_question(first: QuestionAnswered, other: QuestionAnswered) -> bool:
    return (first.question, first.choices) == (other.question, other.choices)


def describe_unanswered(event: QuestionAnswered) -> str:
    """Describe what a question without answer wanted to know, and why it has none."""
    proposed = f" ({clean_text('; '.join(event.choices), 400)})" if event.choices else ""
    return f"it needs to know: “{event.question}”{proposed}, and {event.unanswered}"
