"""What real runs of programs teach and leave behind: the places of their calls are those of the text."""

from pathlib import Path

import pytest

from agent.learning.run_lesson import build_lesson
from agent.memory.run_lessons import extract_solved_requests
from agent.plans.steps_from_run import build_steps
from agent.transcript import RunTranscript
from domain.errors import NotLinearError
from domain.event import CallFinished, EventRecord
from domain.plan import Take
from domain.tool import FINISH
from tests.support.program_world import code, end, the, world
from tests.support.small_world import FORECAST, FOUND, GEOCODE, NEW_WEATHER, ScriptedExecutor

WEATHER = "What is the weather forecast for Paris?"
PLACE = 'place = (await search_places(city="Paris"))["results"][0]'
DAYS = 'days = (await get_daily_forecast(latitude=place["latitude"], longitude=place["longitude"]))["days"]'
SAID = '{"answered": "yes", "answer": f"{days[0][\'temperature\']} degrees on {days[0][\'date\']}"}'
MANY = (
    "import asyncio",
    'cities = ["Paris", "Oslo", "Zürich", "Lima", "Rome", "Bern", "Kyiv"]',
    "places = await asyncio.gather(*[search_places(city=one) for one in cities])",
    "warmest = 0",
    "for found in places:",
    '    spot = found["results"][0]',
    '    days = (await get_daily_forecast(latitude=spot["latitude"], longitude=spot["longitude"]))["days"]',
    '    warmest = max(warmest, days[0]["temperature"])',
    '{"answered": "yes", "answer": f"{warmest} degrees"}',
)


async def ran(folder: Path, *texts: str, request: str = WEATHER) -> list[EventRecord]:
    """A run whose author writes these texts."""
    executor = ScriptedExecutor(search_places=FOUND, get_daily_forecast=FORECAST)
    async with world(folder, executor, *texts) as made:
        records = await made.told(request)
    assert end(records).outcome == "answered", end(records)
    return records


async def test_a_run_teaches_the_dependency_that_its_text_has(tmp_path: Path) -> None:
    records = await ran(tmp_path, code("import asyncio", "# é 日本", PLACE, DAYS, SAID))
    batch = build_lesson(records)
    assert batch is not None
    assert batch.transitions == {(GEOCODE.id, NEW_WEATHER.id): 1, (NEW_WEATHER.id, FINISH): 1}
    assert RunTranscript.from_records(records).path == (GEOCODE.id, NEW_WEATHER.id)
    assert [one.path for one in extract_solved_requests(records, RunTranscript.from_records(records))] == [
        (GEOCODE.id, NEW_WEATHER.id)
    ]


async def test_a_fan_out_teaches_no_more_than_one_dependency(tmp_path: Path) -> None:
    request = "Which is the warmest of Paris, Oslo, Zürich, Lima, Rome, Bern, Kyiv?"
    records = await ran(tmp_path, code(*MANY), request=request)
    assert len(the(records, CallFinished)) > 7
    batch = build_lesson(records)
    assert batch is not None
    assert batch.transitions == {(GEOCODE.id, NEW_WEATHER.id): 1, (NEW_WEATHER.id, FINISH): 1}
    assert batch.outcomes.count((GEOCODE.id, "ok")) == 5
    with pytest.raises(NotLinearError, match="line 3 of its program"):
        build_steps(records)


async def test_a_straight_run_is_a_plan(tmp_path: Path) -> None:
    document, offered = build_steps(await ran(tmp_path, code(PLACE, DAYS, SAID)))
    assert [step.tool for step in document.steps] == [GEOCODE.id, NEW_WEATHER.id]
    assert document.steps[1].takes["latitude"] == Take(step=1, field="results[0].latitude")
    assert [(one.name, one.value, one.request_words) for one in offered] == [("city", "Paris", "Paris")]
