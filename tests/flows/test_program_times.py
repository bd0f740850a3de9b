"""What a run by program tells of its time, and of a text that was not written."""

from pathlib import Path

from domain.event import ProgramRefused, ProgramStarted
from tests.flows.small_world_bindings import CITY, POINT
from tests.flows.test_programs import RIGHT, WEATHER, calls
from tests.models.brain import advance_to, move
from tests.models.openai_replies import Says
from tests.support.program_world import end, the, world


async def test_writing_checking_and_running_are_counted_apart(tmp_path: Path) -> None:
    async with world(tmp_path, calls(), RIGHT) as made:
        usage = end(await made.told(WEATHER)).usage
    parts = (usage.write_seconds, usage.check_seconds, usage.execute_seconds)
    assert all(seconds > 0 for seconds in parts)
    assert usage.write_seconds + usage.check_seconds <= usage.plan_seconds
    assert usage.plan_seconds + usage.execute_seconds <= usage.total_seconds


async def test_why_no_text_was_written_is_told_and_not_asked_again(tmp_path: Path) -> None:
    walk = [advance_to("search_places"), advance_to("get_daily_forecast"), move("finish", "all is served")]
    answers = {"choose": walk, "arguments": [CITY, POINT], "answer": [Says("It will be 4.5 degrees [2].")]}
    prose = Says("I would rather talk about it.")
    async with world(tmp_path, calls(), prose, **answers) as made:  # type: ignore[arg-type]
        whole = await made.told(WEATHER)
        refused = the(whole, ProgramRefused)  # over the offer, and over the path that the walk found
        assert refused == 2 * [ProgramRefused(text="", complaints=("I would rather talk about it.",))]
        assert not the(whole, ProgramStarted)
        place = next(at for at, one in enumerate(whole) if one.event is refused[-1])
        before = made.written
        rest = await made.told(WEATHER, past=whole[: place + 1])
    assert made.written == before
    assert not the(rest, ProgramRefused)
    assert end(whole).usage.write_seconds > 0
