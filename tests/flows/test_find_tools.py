"""``scripts/find_tools.py`` as a person or a program runs it."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from domain.tool import ToolDoc, make_tool_id
from tests.support import forked_commands
from tests.support.indexed_store import indexed_store

ROOT = Path(__file__).resolve().parents[2]


def document(category: str, toolset: str, api: str, text: str) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=api,
        description=text,
    )


RAIN = document("Weather", "Sky", "rain", "Will it rain? The forecast of a city.\x1b[31m[bold]")
TOOLS = [RAIN, document("Money", "Bank", "rates", "Exchange rates of currencies.")]


def find(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/find_tools.py", *map(str, arguments)]
    return forked_commands.run(command, cwd=ROOT, timeout=60)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(indexed_store(tmp_path_factory.mktemp("store"), TOOLS))


def test_json_is_one_object_on_stdout(store: Path) -> None:
    done = find("rain in Rome tomorrow", "--store", store, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [tool["id"] for tool in found["tools"]] == [tool.id for tool in TOOLS]
    first = found["tools"][0]
    assert first["score"] == pytest.approx((first["cosine"] + first["bm25"]) / 2)
    assert (first["bm25"], first["alike"], found["reranked"]) == (1, [], True)


def test_for_people_without_what_strangers_hide_in_their_texts(store: Path) -> None:
    done = find("rain in Rome tomorrow", "--store", store, "--limit", "1")
    assert done.returncode == 0, done.stderr
    assert "Weather/Sky/rain" in done.stdout
    assert "\x1b" not in done.stdout
    assert "[bold]" in done.stdout
    assert "Money" not in done.stdout


def test_of_a_category_alone(store: Path) -> None:
    for written in ("Money", "money", "MONEY"):
        done = find("rain", "--store", store, "--category", written, "--json")
        assert [tool["id"] for tool in json.loads(done.stdout)["tools"]] == [TOOLS[1].id]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["rain", "--category", "Nope"], 1, "no tool is found"),
        (["  "], 2, "the request is empty"),
        (["rain", "--category", "\udcff"], 2, "not UTF-8"),
    ],
)
def test_what_finds_nothing_is_told(store: Path, arguments: list[str], code: int, message: str) -> None:
    done = find(*arguments, "--store", store)
    assert (done.returncode, message in done.stderr) == (code, True)


def test_no_store(tmp_path: Path) -> None:
    done = find("rain", "--store", tmp_path / "none")
    assert (done.returncode, "build_graph.py" in done.stderr) == (3, True)


def test_an_offer_tells_its_reasons(store: Path) -> None:
    done = find("rain in Rome tomorrow", "--store", store, "--explain", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    first = found["tools"][0]
    assert (first["id"], found["considered"]) == (RAIN.id, 2)
    assert {"named", "found"} <= {reason["kind"] for reason in first["reasons"]}
    assert first["score"] == pytest.approx(sum(reason["share"] for reason in first["reasons"]))
    shown = find("rain in Rome tomorrow", "--store", store, "--explain")
    assert "its name says what the request says (rain)" in " ".join(shown.stdout.split())


def test_why_a_tool_is_not_offered(store: Path) -> None:
    arguments = ("rain in Rome tomorrow", "--store", store, "--limit", "1", "--why-not", "rates")
    absence = json.loads(find(*arguments, "--json").stdout)["absence"]
    assert (absence["offered"], absence["found"], absence["place"]) == (False, 2, 2)
    assert absence["tool"]["score"] < absence["last"]
    shown = " ".join(find(*arguments).stdout.split())
    assert "rates is not offered: the search finds it as 2., it is 2. of all that were weighed" in shown
    assert "no feed and no past call joins it to a tool that is offered" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rain", "--explain", "--category", "Weather"], "an offer is made of all categories"),
        (["rain", "--why-not", "nobody"], "no tool is called 'nobody'"),
    ],
)
def test_what_cannot_be_explained_is_told(store: Path, arguments: list[str], message: str) -> None:
    done = find(*arguments, "--store", store)
    assert (done.returncode, message in " ".join(done.stderr.split())) == (2, True)
