"""Runs are measured over a library that is known from the start: the solutions of another store, checked against the tools of this one."""

import importlib
import sys
from pathlib import Path

import pytest

from agent.solutions.protocol import ANY_LIKENESS
from tests.support.small_world import BOOKS, GEOCODE
from tests.support.solution_shelf import solution
from wiring.container import open_container
from wiring.settings import Settings

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
AUTHORS = solution(
    "authors",
    (BOOKS,),
    'books = await search_books(title=title)\nbooks["books"][0]["author"]',
    "Who wrote {title}?",
    inputs={"title": {"type": "string"}},
)
PLACES = solution(
    "places",
    (GEOCODE,),
    'places = await search_places(city=city)\nplaces["results"][0]["latitude"]',
    "How far north is {city}?",
    inputs={"city": {"type": "string"}},
)


async def test_those_whose_tools_are_here_are_known_wherever_the_tools_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    apart = importlib.import_module("_answers_apart")
    async with open_container(Settings(store=tmp_path / "mined"), tmp_path / "mined", create=True) as mined:
        await mined.graph.put_tools((BOOKS, GEOCODE))
        await (await mined.solutions("somebody")).add([AUTHORS.model_copy(update={"owner": "somebody"}), PLACES])
    elsewhere = BOOKS.model_copy(update={"url": "http://127.0.0.2:9/search_books"})
    async with open_container(Settings(store=tmp_path / "here"), tmp_path / "here", create=True) as here:
        await here.graph.put_tools((elsewhere,))
        await apart.with_solutions(here, tmp_path / "mined")
        near = await (await here.solutions("")).find_near('Who wrote "Dune"?', 9, ANY_LIKENESS)
    (one,) = near
    assert (one.solution.path, one.solution.owner) == ((BOOKS.id,), "")
