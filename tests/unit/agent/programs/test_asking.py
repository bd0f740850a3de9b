"""What programs ask their user: once, with choices, at most three times a run; what is not answered ends them, and nothing catches it."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import pytest
import pytest_asyncio

from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from agent.user_questions import (
    MAX_ANSWER_CHARS,
    MAX_CHOICES,
    MAX_QUESTIONS,
    UserQuestion,
    build_user_question,
    restore_choice,
)
from domain.event import EventRecord, ProgramEnded, ProgramFailed, QuestionAnswered
from tests.support.program_runs import Host, Work


@dataclass
class Says:
    """A user who says one thing after the other; None: does not answer."""

    words: Sequence[str | None]
    asked: list[UserQuestion] = field(default_factory=list[UserQuestion])

    async def answer(self, question: UserQuestion) -> str | None:
        self.asked.append(question)
        return self.words[len(self.asked) - 1]


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=2))
    yield made
    await made.close()


def end(records: list[EventRecord]) -> ProgramEnded | ProgramFailed:
    event = records[-1].event
    assert isinstance(event, ProgramEnded | ProgramFailed)
    return event


def answered(records: list[EventRecord]) -> list[QuestionAnswered]:
    return [one.event for one in records if isinstance(one.event, QuestionAnswered)]


WHICH = "x = await ask('Which one?', choices=[n for n in await names()])\nawait get(name=x)"


async def test_an_answer_is_what_the_call_gives(sandbox: MontySandbox) -> None:
    host, user = Host(), Says(["b"])
    records = await Work(sandbox, host, asker=user).records(WHICH)
    (question,) = user.asked
    assert (question.text, question.choices, question.may_quote_response, question.is_tainted) == (
        "Which one?", ("a", "b", "c"), True, False,
    )  # fmt: skip
    warned = " What it asks may be the wording of what tools answered. Tell it no password and no key."
    assert question.display_text == f"The plan asks: “Which one?”{warned}"
    assert host.sent[-1] == ("get", "b")
    (told,) = answered(records)
    assert (told.question, told.choices, told.answer, told.unanswered) == ("Which one?", ("a", "b", "c"), "b", "")
    assert told.site.startswith("1:")


async def test_what_a_user_answers_is_their_word(sandbox: MontySandbox) -> None:
    work = Work(sandbox, Host(), asker=Says(["Oslo"]))
    await work.records("await add(name=await ask('Where?'))\n1")
    assert work.asking.statements == ["Oslo"]


async def test_a_choice_is_given_back_as_it_was_written(sandbox: MontySandbox) -> None:
    written = "  Anna   Brennick\u200b, Oslo"
    user = Says(["anna brennick, oslo"])
    records = await Work(sandbox, Host(), asker=user).records(f"await ask('Who?', [{written!r}])")
    assert user.asked[0].choices == ("Anna Brennick, Oslo",)
    ended = end(records)
    assert isinstance(ended, ProgramEnded)
    assert ended.answer.strip('"').encode().decode("unicode_escape") == written


async def test_what_is_shown_is_clean_and_bounded(sandbox: MontySandbox) -> None:
    user = Says(["x" * 5000])
    text = "await ask('Who\\nis it?' + ' really' * 100, choices=[str(n) + 'x' * 500 for n in range(50)])"
    records = await Work(sandbox, Host(), asker=user).records(text)
    (question,) = user.asked
    assert question.text.startswith("Who is it? really")
    assert len(question.text) <= 300
    assert len(question.choices) == MAX_CHOICES
    assert max(map(len, question.choices)) <= 120
    assert len(answered(records)[0].answer) <= MAX_ANSWER_CHARS


@pytest.mark.parametrize("user", [Says([None]), Says(["  "]), None])
async def test_what_nobody_answers_ends_the_program_for_good(user: Says | None, sandbox: MontySandbox) -> None:
    host = Host()
    text = "try:\n    await ask('Which?', choices=['a'])\nexcept:\n    pass\nawait add(name='x')\n1"
    work = Work(sandbox, host, asker=user) if user else Work(sandbox, host)
    records = await work.records(text, "1")
    assert isinstance(end(records), ProgramEnded)
    assert answered(records)[0].unanswered
    assert host.sent == []


async def test_no_more_than_a_few_questions_are_asked_and_none_twice(sandbox: MontySandbox) -> None:
    user = Says(["yes"] * 9)
    same = await Work(sandbox, Host(), asker=user).records("[await ask('Where?') for n in range(9)]")
    assert isinstance(end(same), ProgramEnded)
    assert len(user.asked) == 1
    many = Says(["yes"] * 9)
    records = await Work(sandbox, Host(), asker=many).records(
        "for n in range(9):\n    x = await ask(f'Where is {n}?')\nx"
    )
    assert len(many.asked) == MAX_QUESTIONS
    assert "at most" in answered(records)[-1].unanswered


async def test_it_is_asked_when_nothing_else_is_under_way(sandbox: MontySandbox) -> None:
    host = Host()

    class Looks(Says):
        async def answer(self, question: UserQuestion) -> str | None:
            assert host.under_way == 0
            return await super().answer(question)

    text = "import asyncio\nawait asyncio.gather(get(name='a'), ask('Where?'), add(name='x'), get(name='b'))"
    await Work(sandbox, host, asker=(user := Looks(["here"]))).records(text)
    assert len(user.asked) == 1
    assert len(host.sent) == 3


async def test_one_that_is_broken_off_asks_nothing_that_was_answered(sandbox: MontySandbox) -> None:
    text = (
        "x = await ask('Which?', choices=await names())\nawait add(name=x)\ny = await ask('And then?')\n"
        "await add(name=y)\n[x, y]"
    )
    whole = await Work(sandbox, Host(), asker=Says(["b", "z"])).records(text)
    for cut in range(1, len(whole)):
        host = Host()
        first = Says(["b", "z"])
        before = await Work(sandbox, host, asker=first).records(text)
        before = before[:cut]
        known = len(answered(before))
        again = Says(["b", "z"][known:])
        records = await Work(sandbox, Host(), past=before, asker=again, ledger=True).records(text)
        assert [one.event.kind for one in records] == [one.event.kind for one in whole], cut
        assert len(again.asked) == 2 - known, cut
        assert end(records) == end(whole), cut


async def test_what_is_asked_in_a_loop_is_told_once(sandbox: MontySandbox) -> None:
    work = Work(sandbox, Host(), asker=Says(["Oslo"]))
    await work.records("for n in range(20):\n    x = await ask('Where?')\n1")
    assert [(one.question, one.answer) for one in work.asking.answered] == [("Where?", "Oslo")]
    assert work.asking.statements == ["Oslo"]


def test_choices_that_begin_alike_stay_apart() -> None:
    begun = "Meeting " * 30
    asked = build_user_question("q", "Which?", [f"{begun}a", f"{begun}b", f"{begun}b"])
    assert len(asked.choices) == 2
    assert restore_choice([f"{begun}a", f"{begun}b"], asked.choices[1]) == f"{begun}b"
    assert restore_choice([f"{begun}a", f"{begun}b"], asked.choices[0]) == f"{begun}a"


def test_choices_that_are_not_shown_are_told() -> None:
    asked = build_user_question("q", "Which?", [str(n) for n in range(MAX_CHOICES + 12)])
    assert len(asked.choices) == MAX_CHOICES
    assert "12 more" in asked.text
