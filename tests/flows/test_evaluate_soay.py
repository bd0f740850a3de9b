"""``evaluate.py soay``: without a model, and behind one that writes the gold programs or planted faults."""

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner, Result

from playground.soay.application import Scenario
from playground.soay.benchmark import Built, built, stratified
from synthesis.triplets import build_triplet, read_triplets
from tests.models.gold_author import GoldAuthor, ending
from tests.models.openai_server import model_server_in_thread
from tests.support import forked_commands

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"


@pytest.fixture(autouse=True)
def path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its modules are found as they are where it is run."""
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])


def evaluate(*arguments: str, url: str = "") -> subprocess.CompletedProcess[str]:
    """The command as a user runs it."""
    settings = {"FOOTPATH_MODEL_URL": url, "FOOTPATH_MODEL_NAME": "rules"} if url else {}
    return forked_commands.run(
        [sys.executable, str(SCRIPTS / "evaluate.py"), "soay", *arguments],
        cwd=ROOT, env={**os.environ, "COLUMNS": "200", **settings}, timeout=170,
    )  # fmt: skip


def invoke(*arguments: str) -> Result:
    """The command in this process, which has read its libraries already; for what starts no service."""
    return CliRunner().invoke(importlib.import_module("evaluate").app, ["soay", *arguments])


def figures(author: GoldAuthor, *arguments: str) -> dict[str, Any]:
    with model_server_in_thread(author) as served:
        done = evaluate("--policy", "llm", *arguments, "--json", url=served.url)
    assert done.returncode == 0, done.stderr
    return orjson.loads(done.stdout)


@pytest.mark.timeout(200)
@pytest.mark.parametrize(
    ("scenario", "language", "limit"), [("scholar", "en", 22), ("works", "zh", 11), ("books", "en", 11)]
)
def test_who_writes_the_gold_programs_has_a_hundred(scenario: Scenario, language: str, limit: int) -> None:
    author = GoldAuthor(built(scenario, "zh" if language == "zh" else "en"))
    asked = ("--scenario", scenario, "--language", language, "--limit", str(limit), "--stratified")
    found = figures(author, *asked, "--planner", "program")["planners"]["program"]
    assert found["all"]["n"] == limit
    assert found["missed"] == []
    assert found["score"] == found["all"]["EM"]["share"] == found["all"]["ACC"]["share"] == 100
    assert found["costs"]["model_calls"] == {"p50": 1, "mean": 1, "max": 1}


def code(question: Built, *changes: tuple[str, str]) -> str:
    text = build_triplet(question.request, (), question.template.program, question.values).code
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return ending(text)


@pytest.mark.timeout(200)
def test_each_planted_fault_is_its_case(tmp_path: Path) -> None:
    """The first question of five templates: one as it should be, one by another way, by a wrong one, with a wrong field, and one that breaks off."""
    first = {one.template.number: one for one in built("books", entities=1)}
    another_way = 'authors = await searchAuthors(name=name)\nbooks = await getAuthorBooks(author_id=authors["docs"][0]["author_id"])\nlen(books["entries"])'
    values = "".join(f"{name} = {value!r}\n" for name, value in first[4].values.items())
    planted = {
        4: ("DS", ending(values + another_way)),
        9: ("WP", code(first[9], ('page["setting"]', 'page["title"]'))),
        13: ("WS", code(first[13], ("life = await getAuthor(", "life = await getAuthorBooks("), ('life["birthplace"]', 'life["size"]'))),
        15: ("EE", code(first[15], ('written["entries"]', 'written["entries"][99]["none"]'))),
    }  # fmt: skip
    author = GoldAuthor(built("books"), {first[number].request: text for number, (_, text) in planted.items()})
    kept = tmp_path / "kept.jsonl"
    arguments = ("--scenario", "books", "--limit", "22", "--stratified", "--results", str(kept))
    found = figures(author, *arguments, "--planner", "program")["planners"]["program"]
    assert {one["template"]: one["case"] for one in found["missed"]} == {at: case for at, (case, _) in planted.items()}
    assert found["all"]["EM"]["share"] == pytest.approx(100 * 18 / 22)
    assert found["hops"]["3"]["ACC"]["share"] == 100
    again = evaluate(*arguments, "--planner", "retrieve", "--json")
    assert again.returncode == 0, again.stderr
    assert len(kept.read_bytes().splitlines()) == 44, "of another planner, and beside the first"


@pytest.mark.timeout(200)
def test_several_planners_are_asked_the_same_without_a_model() -> None:
    done = evaluate("--scenario", "books", "--planner", "dfs", "--planner", "retrieve", "--lines", "even", "--limit", "6", "--stratified")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "dfs (offline): score" in done.stdout
    assert "retrieve (offline): score" in done.stdout
    assert "SoAyGPT-4 86.57" in done.stdout


def test_gold_is_written_for_training_and_nothing_is_run(tmp_path: Path) -> None:
    path = tmp_path / "triplets.jsonl"
    done = invoke("--scenario", "works", "--lines", "odd", "--limit", "33", "--stratified", "--triplets", str(path))
    assert done.exit_code == 0, done.stderr
    found = read_triplets(path)
    asked = stratified([one for one in built("works") if one.template.number % 2], 33)
    assert [one.query for one in found] == [one.request for one in asked]
    assert all(one.solution and all(name in one.code for name in one.solution) for one in found)
    assert max(len(one.solution) for one in found) == 3


@pytest.mark.parametrize("wrong", [("--lines", "third"), ("--store", "/nowhere"), ("--planner", "guess")])
def test_wrong_use_is_told_before_anything_is_started(wrong: tuple[str, ...]) -> None:
    done = invoke("--scenario", "books", "--limit", "1", *wrong)
    assert (done.exit_code, wrong[1] in done.stderr) == (2, True), done.stderr


def test_a_policy_that_is_not_there_is_told() -> None:
    done = evaluate("--scenario", "books", "--limit", "1", "--policy", "guess")
    assert (done.returncode, "no policy is called 'guess'" in done.stderr) == (2, True), done.stderr
