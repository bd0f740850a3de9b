"""A change that was to be made and was not is never an answer, in whatever language it was asked for, and is never remembered."""

from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import CallResult
from agent.learning.run_lesson import build_lesson
from agent.policy.protocol import (
    ArgumentsQuestion,
    CallArguments,
    MoveQuestion,
    NextMove,
    Reflection,
    ReflectionQuestion,
    UnservedQuestion,
)
from agent.run_context import RunDeps
from domain.errors import NotAllowedError
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import FINISH
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.flows.test_runs import answer, asked, outcome
from tests.support.run_deps import build_deps
from tests.support.small_world import BOOKS, REMOVE, Answer, ScriptedExecutor, finder, graph, ok

ORDER = "Lösche bitte das Buch Dune aus dem Regal"
FOUND = ok({"books": [{"title": "Dune", "author": "Frank Herbert"}]})


class Model(OfflinePolicy):
    """Decides like a model that knows no list of verbs: looks the book up, deletes it, and finishes with what is left."""

    def __init__(self, *, missing: bool = False, deletes: bool = True, unserved: str = "") -> None:
        super().__init__()
        self._lacks_title = missing
        self._deletes = deletes
        self._unserved = unserved

    async def choose(self, situation: MoveQuestion) -> NextMove:
        offered = [candidate.tool.api for candidate in situation.candidates]
        wanted = "search_books" if not situation.path else "delete_book"
        tried = any("delete_book" in reason or "the call failed" in reason for reason in situation.memory)
        if wanted in offered and not (wanted == "delete_book" and (tried or not self._deletes)):
            return NextMove("advance", "next", offered.index(wanted))
        return NextMove("finish" if situation.path else "give_up", "no more", unserved=self._unserved)

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        if self._lacks_title and question.tool.api == "delete_book":
            return CallArguments({}, (), ("title",))
        return CallArguments({"title": "Dune"}, (Binding(parameter="title", origin="request", reference="Dune"),))

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        return Reflection("success", "good enough")

    def find_unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        return ()


async def deps(folder: Path, executor: ScriptedExecutor, policy: Model) -> RunDeps:
    return build_deps(
        await graph([(BOOKS, REMOVE)] * 3),
        await finder(folder),
        policy,
        executor,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )


def denied(_: JsonObject) -> CallResult:
    raise NotAllowedError("You did not allow this call, so it was not made.")


def down(_: JsonObject) -> CallResult:
    return CallResult("transient", "", 503)


def refused(_: JsonObject) -> CallResult:
    return CallResult("refused", "", 403)


@pytest.mark.parametrize(("delete", "missing"), [(down, False), (refused, False), (denied, False), (ok({}), True)])
async def test_a_change_that_failed_is_no_answer(tmp_path: Path, delete: Answer, missing: bool) -> None:
    executor = ScriptedExecutor(search_books=FOUND, delete_book=delete)
    records, transcript = await asked(ORDER, await deps(tmp_path, executor, Model(missing=missing)))
    assert outcome(transcript) == "gave_up"
    assert "Not done: delete book" in answer(transcript)
    assert not any(transcript.is_served(one) for one in transcript.ordered_subtasks)
    batch = build_lesson(records)
    assert batch is not None
    assert (BOOKS.id, FINISH) not in batch.transitions


async def test_a_change_that_was_made_is_an_answer(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_books=FOUND, delete_book=ok({}))
    records, transcript = await asked(ORDER, await deps(tmp_path, executor, Model()))
    assert outcome(transcript) == "answered"
    batch = build_lesson(records)
    assert batch is not None
    assert (REMOVE.id, FINISH) in batch.transitions


async def test_what_a_policy_says_it_leaves_undone_is_no_answer(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_books=FOUND)
    policy = Model(deletes=False, unserved="deleting the book")
    _, transcript = await asked(ORDER, await deps(tmp_path, executor, policy))
    assert outcome(transcript) == "gave_up"
    assert 'Not done: "deleting the book".' in answer(transcript)
    assert not any(transcript.is_served(one) for one in transcript.ordered_subtasks)
