"""A dead tool is gone around by one that the request alone would not have led to."""

from pathlib import Path

from agent.execution.approval import AllowChangesApprover
from agent.run import run
from agent.transcript import RunTranscript
from graph.links import FeedLink, ToolLinks
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.support.run_deps import build_deps
from tests.support.small_world import FORECAST, NEW_WEATHER, ScriptedExecutor, down, finder, graph, need, ok, tool

FRIENDS = tool(
    "Friends", "find_friend", "A friend by name: the town where the friend lives.",
    [need("name", description="Name of the friend.")], {"friend": "Ada Thorn", "home_town": "Lisbon"},
)  # fmt: skip
TOWNS = tool(
    "Places", "find_town", "Coordinates of a town by its name.", [need("town", description="Name of the town.")],
    {"town": "Lisbon", "latitude": 38.7, "longitude": -9.1},
)  # fmt: skip
LOCATOR = tool(
    "Maps", "locate", "Forward lookup, address to point.", [need("q", description="Free form: a town or city.")],
    [{"latitude": 38.7, "longitude": -9.1}],
)  # fmt: skip
HERE = (FRIENDS, TOWNS, LOCATOR, NEW_WEATHER)
WALKS = [(FRIENDS, TOWNS, NEW_WEATHER)] * 5


COORDINATES = [
    FeedLink(one.id, NEW_WEATHER.id, name, name, 0.9) for name in ("latitude", "longitude") for one in (TOWNS, LOCATOR)
]
"""They come from both; nothing is known to do the same as another."""


async def asked(folder: Path, request: str, executor: ScriptedExecutor) -> RunTranscript:
    store, search = await graph(WALKS, HERE), await finder(folder, HERE)
    await store.put_links([ToolLinks(NEW_WEATHER.id, COORDINATES)])
    transcript = RunTranscript()
    async for record in run(
        request,
        build_deps(store, search, OfflinePolicy(), executor, approver=AllowChangesApprover(), reader=EnglishReader()),
    ):
        transcript.add(record)
    return transcript


POINT = [{"latitude": 38.7, "longitude": -9.1}]


async def test_what_gives_the_same_is_asked_the_same(tmp_path: Path) -> None:
    request_ = "What is the daily weather forecast, day by day, for the coordinates of the town of Lisbon?"
    executor = ScriptedExecutor(
        find_friend=ok({"friend": "Ada Thorn", "home_town": "Lisbon"}),
        find_town=down,
        locate=ok(POINT),
        get_daily_forecast=FORECAST,
    )
    transcript = await asked(tmp_path, request_, executor)
    assert transcript.path == (LOCATOR.id, NEW_WEATHER.id)
    assert ("locate", {"q": "Lisbon"}) in executor.made
    assert transcript.end is not None
    assert transcript.end.outcome == "answered"


async def test_where_nothing_gives_the_same_it_is_said_so(tmp_path: Path) -> None:
    executor = ScriptedExecutor(find_friend=ok({}), find_town=down, locate=down, get_daily_forecast=FORECAST)
    transcript = await asked(tmp_path, "What is the daily weather forecast for the town of Lisbon?", executor)
    assert transcript.end is not None
    assert transcript.end.outcome == "gave_up"
    assert not any(name == "get_daily_forecast" for name, _ in executor.made)
