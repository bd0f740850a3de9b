"""Makes the committed data: the catalogue from the application, the trajectories from scenarios run against the server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import orjson

from domain.tool import ToolDoc
from graph.importers.openapi import read_openapi
from playground.application import create_app
from playground.child import running_playground
from playground.reserved import kept_in
from playground.scenarios import (
    academia,
    business,
    care,
    cinema,
    cooking,
    football,
    geography,
    messages,
    money,
    ordering,
    planning,
    reading,
    shopping,
    stays,
    travel,
    twins,
    weather,
    words,
    work,
)
from playground.scenarios.choice import demo_names
from playground.session import Scenario, Session

DATA = Path(__file__).parent / "data"
CATALOGUE = "openapi.json"
ANSWERS = Path("answer") / "G1_answer"
TIMEOUT = 10.0
DOMAINS = (
    weather,
    geography,
    money,
    academia,
    reading,
    business,
    shopping,
    ordering,
    planning,
    messages,
    words,
    twins,
    travel,
    stays,
    football,
    cinema,
    cooking,
    care,
    work,
)
"""In the order of their files' numbers."""


def all_scenarios() -> list[Scenario]:
    """Every scenario that asks about nothing the demo asks about; its place in the list is part of its file's name."""
    every = (scenario for domain in DOMAINS for scenario in domain.scenarios())
    return [one for one in every if not any(name in one.query for name in demo_names())]


def write_catalogue(folder: Path) -> Path:
    """The OpenAPI document for the default address."""
    path = folder / CATALOGUE
    folder.mkdir(parents=True, exist_ok=True)
    path.write_bytes(orjson.dumps(create_app().openapi(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return path


def write_trajectories(
    folder: Path, scenarios: list[Scenario], tools: dict[str, ToolDoc], done: Callable[[str], None]
) -> int:
    """Run the scenarios against two running playgrounds, before and after Meteo Classic's end; one file each.

    Files of scenarios that are no more are removed. Returns the number written.
    """
    target = folder / ANSWERS
    target.mkdir(parents=True, exist_ok=True)
    written: set[str] = set()
    for name, content in recorded(scenarios, tools):
        (target / name).write_bytes(content)
        written.add(name)
        done(name)
    for stale in target.glob("*.json"):
        if stale.name not in written:
            stale.unlink()
    return len(written)


def recorded(scenarios: list[Scenario], tools: dict[str, ToolDoc]) -> Iterator[tuple[str, bytes]]:
    """File name and content of each scenario, in order.

    One whose file mentions what is kept for the measured requests is left out, and its number with it.
    """
    with (
        running_playground(meteo_in_service=True) as before,
        running_playground() as after,
        httpx.Client(base_url=before, timeout=TIMEOUT, trust_env=False) as old,
        httpx.Client(base_url=after, timeout=TIMEOUT, trust_env=False) as new,
    ):
        for number, scenario in enumerate(scenarios, start=1):
            client = old if scenario.meteo_in_service else new
            client.post("/_reset").raise_for_status()  # what a scenario meets depends on no other
            session = Session(client, tools, scenario.query)
            scenario.search(session)
            content = orjson.dumps(session.written())
            if not kept_in(content.decode()):
                yield f"{number}_playground_DFS_woFilter_w2.json", content


def catalogue_tools(path: Path) -> dict[str, ToolDoc]:
    """The catalogue's documents by operation."""
    return {doc.api: doc for doc in read_openapi(path)}
