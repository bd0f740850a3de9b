"""What a program lacks is looked for among the tools that come next, whatever it was offered before."""

from pathlib import Path

from domain.tool import tool_id
from tests.flows.program_world import OffersAs, code, end, world
from tests.flows.small_world import BOOKS, GEOCODE, NEW_WEATHER
from tests.flows.test_programs import ANSWER, DAYS, PLACE, SAID, WEATHER, calls


async def test_an_offer_is_widened_by_those_that_come_next(tmp_path: Path) -> None:
    """Not by what is left of the first sixteen once those known are taken out: here that is one tool, and it does not serve."""
    lacking = code(PLACE, '{"answered": "no", "answer": "", "missing": "the forecast at a point"}')
    others = [
        BOOKS.model_copy(update={"id": tool_id("Books", "Shelf", f"b{n}"), "api": f"b{n}", "function": f"b{n}"})
        for n in range(15)
    ]
    first = [GEOCODE, *others]
    offers = OffersAs([first, [*first[:15], BOOKS, NEW_WEATHER]])
    async with world(
        tmp_path, calls(), lacking, code(DAYS, SAID), tools=[*first, BOOKS, NEW_WEATHER], offers=offers
    ) as made:
        records = await made.told(WEATHER)
    assert (end(records).outcome, end(records).answer) == ("answered", ANSWER)
