"""Whole runs that change something: only what is approved, and told by the run itself."""

from pathlib import Path

from agent.execution.approval import DenyChangesApprover
from agent.policy.protocol import ArgumentsQuestion, CallArguments, MoveQuestion, NextMove
from domain.plan import Binding
from offline.policy import OfflinePolicy
from tests.flows.test_runs import answer, asked, deps, outcome
from tests.support.run_deps import change_deps
from tests.support.small_world import FOUND, ScriptedExecutor, ok


async def test_a_change_is_told_by_the_run_itself(tmp_path: Path) -> None:
    executor = ScriptedExecutor(delete_book=ok({}), search_books=ok({"books": []}))
    _, transcript = await asked('Delete the book "Dune"', await deps(tmp_path, executor))
    assert ("delete_book", {"title": "Dune"}) in executor.made
    assert answer(transcript).startswith("Done: delete book Dune [")


async def test_nothing_is_deleted_that_is_not_named(tmp_path: Path) -> None:
    books = ok({"books": [{"title": "Dune", "author": "Frank Herbert"}, {"title": "Emma", "author": "Jane Austen"}]})
    executor = ScriptedExecutor(search_books=books, delete_book=ok({}), search_places=FOUND)
    _, transcript = await asked("Delete the book", await deps(tmp_path, executor))
    assert "delete_book" not in [name for name, _ in executor.made]
    assert outcome(transcript) == "gave_up"


class _Changes(OfflinePolicy):
    """A policy that deletes what comes first in a list, and finishes where it may not."""

    async def choose(self, situation: MoveQuestion) -> NextMove:
        offered = [candidate.tool.api for candidate in situation.candidates]
        wanted = "search_books" if not situation.path else "delete_book"
        if wanted not in offered or any("delete_book" in reason for reason in situation.memory):
            return NextMove("finish" if situation.path else "give_up", "no more")
        return (
            NextMove("finish", "done")
            if len(situation.path) > 1
            else NextMove("advance", "next", offered.index(wanted))
        )

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        if question.tool.api == "search_books":
            return CallArguments({"title": "all"}, (Binding(parameter="title", origin="request", reference="all"),))
        first = Binding(parameter="title", origin="step", reference="1.books[0].title")
        return CallArguments({"title": "Dune"}, (first,))


async def test_no_policy_changes_what_nobody_approves(tmp_path: Path) -> None:
    books = ok({"books": [{"title": "Dune"}, {"title": "Emma"}]})
    executor = ScriptedExecutor(search_books=books, delete_book=ok({}))
    made = change_deps(await deps(tmp_path, executor, _Changes()), approver=DenyChangesApprover())
    _, transcript = await asked("Delete all books", made)
    assert [name for name, _ in executor.made] == ["search_books"]
    assert outcome(transcript) == "gave_up"
    assert answer(transcript).startswith("Not done: delete book Dune.")
