"""Trying a model, and asking with one, as a user does: scripts as processes, the model on a real socket."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.brain import Brain, advance_to, bind
from tests.models.openai_replies import WEB_PAGE, ChatRequest, Reply, Says, scripted
from tests.models.openai_server import EVERYTHING, model_server, model_server_in_thread
from tests.models.sample_programs import coder, planner
from tests.support import forked_commands
from wiring.model_check import ModelReport, check_model
from wiring.settings import read_settings

ROOT = Path(__file__).parents[2]
DATA = ROOT / "playground" / "data"


def script(name: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(ROOT / "scripts" / name), *arguments]
    environment = {**os.environ, **{f"FOOTPATH_{key.upper()}": value for key, value in settings.items()}}
    return forked_commands.run(command, timeout=90, env=environment)


def good(request: ChatRequest) -> Reply | str:
    """Right on the samples of the check."""
    if "[[" not in request.prompt:
        return '{"state": "ready"}'
    point = (
        ("latitude", 59.31, "step", "1.results[0].latitude"),
        ("longitude", 13.82, "step", "1.results[0].longitude"),
    )
    return Brain(
        choose=[advance_to("get_daily_forecast")],
        arguments=[bind(*point, ("days", 3, "request", "3 days"))],
        answer=["Highs of 5.5, 6.5 and 7.5 degrees [2]."],
    )(request)


def writes(request: ChatRequest) -> Reply | str:
    """Writes programs as well."""
    return coder(0.0)(request) if "short Python program" in request.prompt else good(request)


def test_a_good_endpoint_with_what_it_costs() -> None:
    with model_server_in_thread(writes, api_key="sk-local") as server:
        prices = ("--price-in", "1", "--price-out", "2")
        done = script(
            "check_model.py", "--json", *prices, model_url=server.url, model_name="rules", model_api_key="sk-local"
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["works"] is True
    assert told["listed"] == ["rules"]
    assert told["forms"] == {"json_schema": True, "json_object": True}
    assert [(name, check["valid"], check["right"]) for name, check in told["decisions"].items()] == [
        (name, True, True) for name in ("choose", "arguments", "answer")
    ]
    assert (told["program_form"], told["programs"]["code"]["right"]) == ("code", 5)
    tokens = told["run_prompt_tokens"] + 2 * told["run_completion_tokens"]
    assert told["cost"] == pytest.approx(tokens / 1_000_000)
    assert "sk-local" not in done.stdout + done.stderr


def test_a_model_that_plans_in_the_grammar_is_asked_for_that_from_then_on(tmp_path: Path) -> None:
    def small(request: ChatRequest) -> Reply | str:
        planning = str(request.messages[0]["content"]).startswith("You write one plan")
        return planner(0.0)(request) if planning else good(request)

    with model_server_in_thread(small) as server:
        named = {"model_url": server.url, "model_name": "rules", "store": str(tmp_path / "store")}
        shown = script("check_model.py", "--price-in", "1", "--price-out", "2", **named)
        again = script("check_model.py", "--json", model_price_prompt="1", model_price_completion="2", **named)
    assert shown.returncode == 0, shown.stderr
    assert "programs in grammar" in shown.stdout
    assert "5 of 5 samples served, 5 at once" in shown.stdout
    assert "program_forms.json" in "".join(shown.stdout.split())
    assert "FOOTPATH_PROGRAM_FORM" in shown.stdout
    assert json.loads((tmp_path / "program_forms.json").read_text()) == {f"{server.url} rules": "grammar"}
    told = json.loads(again.stdout)
    assert told["program_form"] == "grammar"
    assert told["programs"]["grammar"]["cost"] > 0


async def checked(url: str, model: str = "rules", key: str = "", **given: str) -> ModelReport:
    """The same in this process: loading the client takes seconds."""
    return await check_model(
        read_settings(model_url=url, model_name=model, model_api_key=key, model_attempts="1", **given)
    )


async def test_an_endpoint_that_knows_less_works_too() -> None:
    async with model_server(good, supports=EVERYTHING - {"json_schema", "json_object", "stream_options"}) as server:
        report = await checked(server.url)
    assert report.works
    assert report.forms == {"json_schema": False, "json_object": False}
    assert any("takes no schemas" in advice for advice in report.advice)


async def test_a_model_that_talks_nonsense_is_valid_for_nothing() -> None:
    async with model_server(scripted("Certainly! I would love to help.")) as server:
        report = await checked(server.url)
    assert not report.works
    assert report.failure == ""
    assert not report.decisions["choose"].valid


async def test_a_model_whose_programs_are_cut_off_is_told_so_and_what_else_serves() -> None:
    def long(request: ChatRequest) -> Reply | str:
        planning = str(request.messages[0]["content"]).startswith(("Write one short", "You write one"))
        return good(request) if not planning else Says("```python\nx = 1", finish="length")

    async with model_server(long) as server:
        advice = " ".join((await checked(server.url)).advice)
    assert "FOOTPATH_MODEL_MAX_TOKENS" in advice
    assert "--planner react" in advice


async def test_a_forgotten_v1_is_found_and_a_path_too_long_is_cut() -> None:
    async with model_server(good) as server:
        report = await checked(server.url.removesuffix("/v1"))
        assert (report.failure, report.advice) == (
            "address",
            (f"{server.url} answers: set FOOTPATH_MODEL_URL={server.url}",),
        )
        assert (await checked(f"{server.url}/chat/completions")).works


@pytest.mark.parametrize(
    ("key", "model", "words"),
    [("", "rules", "wants a key"), ("no", "rules", "another key"), ("yes", "gpt", "no model is called 'gpt'")],
)
async def test_what_is_wrong_is_said(key: str, model: str, words: str) -> None:
    async with model_server(good, api_key="yes") as server:
        report = await checked(server.url, model, key)
    assert words in report.error
    assert report.advice == (("the endpoint lists: rules",) if model == "gpt" else ())


@pytest.mark.parametrize("failure", ["protocol", "connection"])
async def test_no_endpoint_at_all(failure: str) -> None:
    async with model_server(scripted(WEB_PAGE)) as server:
        report = await checked(server.url if failure == "protocol" else "http://127.0.0.1:9/v1")
    assert (report.failure, report.works) == (failure, False)


def test_exit_codes_of_wrong_use_and_of_nothing_there() -> None:
    gone = script("check_model.py", "--url", "http://127.0.0.1:9/v1", "--model", "rules", model_attempts="1")
    assert (gone.returncode, "nothing answers" in gone.stderr) == (3, True)
    unset = script("check_model.py")
    assert (unset.returncode, "FOOTPATH_MODEL_URL and FOOTPATH_MODEL_NAME" in unset.stderr) == (2, True)
    half = script("check_model.py", "--price-in", "1")
    assert (half.returncode, "both prices" in half.stderr) == (2, True)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("llm") / "store")
    built = script("build_graph.py", "--tools", str(DATA / "openapi.json"), "--trajectories", str(DATA / "answer"),
                   "--store", folder, "--json")  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder


def test_ask_with_a_model(store: str, tmp_path: Path) -> None:
    found = {"count": 1, "results": [{"city": "Tarnholm", "latitude": 59.3, "longitude": 13.8}]}
    recorded = {"category": "Location", "tool_name": "atlas_places", "api_name": "search_places", "error": "", "kind": "ok",
                "arguments": '{"city": "Tarnholm"}', "response": json.dumps(found)}  # fmt: skip
    calls = tmp_path / "calls.jsonl"
    calls.write_text(json.dumps(recorded) + "\n")
    brain = Brain(
        program=[
            "```python\nfound = (await search_places(city='Tarnholm'))['results']\n"
            "f\"Tarnholm lies at {found[0]['latitude']} north.\"\n```"
        ]
    )
    with model_server_in_thread(brain) as server:
        asked = script("ask.py", "Where is the city of Tarnholm?", "--policy", "llm", "--store", store, "--executor", "replay",
                       "--calls", str(calls), "--json", model_url=server.url, model_name="rules")  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    told = json.loads(asked.stdout)
    assert told["answer"].startswith("Tarnholm lies at 59.3 north.")
    assert brain.asked == ["program"]
    assert told["model_calls"] == len(brain.asked)
    assert told["tokens"]["prompt"] > 500


def test_ask_without_a_model_says_what_to_set(store: str) -> None:
    asked = script("ask.py", "Where is Tarnholm?", "--policy", "llm", "--store", store)
    assert asked.returncode == 2
    assert "FOOTPATH_MODEL_URL and FOOTPATH_MODEL_NAME" in asked.stderr
