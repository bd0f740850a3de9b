"""Answers that no reader expects: nested thousands deep, numbers beyond all bounds, halves of characters. A run goes on, and a change that was
made is told as made.
"""

import json
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import CallResult
from domain.event import EventRecord
from domain.model import JsonObject
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.flows.test_runs import answer, asked, outcome
from tests.support.run_deps import build_deps
from tests.support.small_world import BOOKS, REMOVE, ScriptedExecutor, finder, graph, ok


def nested(depth: int, opens: str = "[", closes: str = "]") -> str:
    return opens * depth + ("1" if ":" in opens else "") + closes * depth


BODIES = {
    **{f"lists {depth}": nested(depth) for depth in (240, 300, 1_000, 3_000, 10_000)},
    **{f"objects {depth}": nested(depth, '{"a":', "}") for depth in (240, 300, 1_000, 10_000)},
    **{
        f"inside {depth}": f'{{"books": [{{"title": "Dune", "deep": {nested(depth)}}}]}}'
        for depth in (240, 300, 1_000, 10_000)
    },
    "infinite": '{"books": [{"title": "Dune", "pages": 1e999}]}',
    "long number": f'{{"books": [{{"title": "Dune", "pages": {"9" * 5_000}}}]}}',
    "half a character": '{"books": [{"title": "\\ud800 Dune"}]}',
    "raw half": "Dune \ud800",
    "NUL": '{"books": [{"title": "Du\\u0000ne"}]}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("order", [True, False])
async def test_a_run_survives_it(tmp_path: Path, body: str, order: bool) -> None:
    def odd(_: JsonObject) -> CallResult:
        return CallResult("ok", body, 200)

    books = ok({"books": [{"title": "Dune", "author": "Frank Herbert"}]}) if order else odd
    executor = ScriptedExecutor(search_books=books, delete_book=odd)
    store = await graph([(BOOKS,), (BOOKS, REMOVE)])
    request = 'Delete the book "Dune"' if order else 'Who wrote the book "Dune"? Give its title and author.'
    records, transcript = await asked(
        request,
        build_deps(
            store,
            await finder(tmp_path),
            OfflinePolicy(),
            executor,
            approver=AllowChangesApprover(),
            reader=EnglishReader(),
        ),
    )
    assert outcome(transcript) != "failed"
    for record in records:
        assert EventRecord.model_validate_json(record.model_dump_json()) == record
    json.dumps(transcript.to_json(), allow_nan=False, ensure_ascii=False).encode()
    if order:
        assert outcome(transcript) == "answered"
        assert answer(transcript).startswith("Done: delete book Dune [")
