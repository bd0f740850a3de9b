"""What a run that was broken off has done: the changes that it made count against its budget when it goes on."""

from datetime import UTC, datetime

import pytest

from agent.resume import Past
from domain.event import CallFinished, CallStarted, Event, EventRecord
from domain.plan import StepResult
from tests.flows.small_world import BOOKS, REMOVE


def finished(title: str, attempts: int = 1) -> CallFinished:
    return CallFinished(
        step=1, result=StepResult(tool=REMOVE.id, arguments={"title": title}, status="ok", attempts=attempts)
    )


BEGUN = CallStarted(step=1, tool=REMOVE.id, arguments={"title": "Dune"})
READ = CallFinished(step=1, result=StepResult(tool=BOOKS.id, arguments={"title": "Dune"}, status="ok", attempts=1))


@pytest.mark.parametrize(
    ("told", "ledger", "changes"),
    [
        ([], False, 0),
        ([READ], False, 0),
        ([BEGUN, finished("Dune"), READ, finished("Emma")], False, 2),
        ([finished("Dune"), finished("Dune")], False, 1),
        ([finished("Dune", attempts=0)], False, 0),
        ([BEGUN], False, 1),
        ([BEGUN], True, 0),
    ],
    ids=["nothing", "read", "two", "repeated", "not sent", "cut off", "cut off, and the ledger knows of it"],
)
def test_the_changes_that_were_sent_are_counted(told: list[Event], ledger: bool, changes: int) -> None:
    records = [
        EventRecord(run="r", seq=number, at=datetime.now(UTC), subtask=1, event=event)
        for number, event in enumerate(told, start=1)
    ]
    assert Past(records, frozenset({REMOVE.id})).changes(ledger=ledger) == changes
