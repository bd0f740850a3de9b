"""Runs with programs that were broken off and go on, where their model could not write before, or can now."""

from pathlib import Path

import pytest

from domain.event import CallFinished
from tests.flows.program_world import code, end, world
from tests.flows.small_world import ScriptedExecutor, ok

DELETE = 'Delete the book "Dune"'
DELETED = code('gone = await delete_book(title="Dune")', '{"answered": "yes", "answer": gone["deleted"]}')


def calls() -> ScriptedExecutor:
    return ScriptedExecutor(delete_book=ok({"deleted": 1}))


@pytest.mark.parametrize("texts", [(), (DELETED,)], ids=["its model is still down", "its model is back"])
@pytest.mark.parametrize("planner", ["program", "dfs"])
async def test_a_change_by_the_walk_of_a_model_that_could_not_write_is_made_once(
    tmp_path: Path, planner: str, texts: tuple[str, ...]
) -> None:
    async with world(tmp_path, calls(), planner=planner) as made:
        whole = await made.told(DELETE)
    assert end(whole).outcome == "answered"
    (at,) = (number for number, one in enumerate(whole, start=1) if isinstance(one.event, CallFinished))
    async with world(tmp_path / "again", executor := calls(), *texts, planner=planner) as made:
        for cut in range(at - 1, len(whole)):
            rest = await made.told(DELETE, past=whole[:cut])
            outcome = "answered" if cut >= at else "gave_up"  # nobody knows what became of a call that was cut off
            assert (end(rest).outcome, end(rest).error, executor.made) == (outcome, "", []), cut
