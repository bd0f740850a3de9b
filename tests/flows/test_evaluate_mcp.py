"""``evaluate.py mcp`` from outside: what it refuses, and that nothing that is kept is measured again."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner, Result

from evaluation.client_agent import ClientRun
from evaluation.client_runs import ClientRunFile, ServiceAnswer, judge_client_run
from evaluation.evaluation_cases import read_evaluation_cases
from scripts.evaluate import app
from tests.support.source_tree import ROOT

REQUESTS = ROOT / "playground" / "requests"
HEARD = ServiceAnswer(operation="search_places", status=200, body='{"population": 278640}')


def evaluate(*more: object) -> Result:
    return CliRunner().invoke(app, ["mcp", *map(str, more)])


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTPATH_MODEL_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("FOOTPATH_MODEL_NAME", "rules")


@pytest.mark.usefixtures("model")
def test_what_is_kept_is_not_asked_again(tmp_path: Path) -> None:
    """The model's address leads nowhere, and no playground is started."""
    (asked,) = [one for one in read_evaluation_cases([REQUESTS / "one.jsonl"]) if one.id == "one-population"]
    run = ClientRun("answered", "278,640", replies=2, calls=["ask"], list_tokens=480, prompt_tokens=900)
    conditions: dict[str, Any] = {"tools": "footpath", "model": "rules"}
    kept = tmp_path / "kept.jsonl"
    ClientRunFile(kept, conditions).add(judge_client_run(asked, run, [HEARD], [], conditions))
    done = evaluate("--only", asked.id, "--results", kept, "--json")
    assert done.exit_code == 0, done.output
    figures = orjson.loads(done.stdout)
    assert (figures["right"], figures["asked"], figures["list_tokens"]) == (1, 1, 480)
    assert "footpath: 1 of 1 right" in evaluate("--only", asked.id, "--results", kept).stdout
    assert evaluate("--only", asked.id, "--results", kept, "--tools", "plain").exit_code == 2


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize(
    "options",
    [("--tools", "all"), ("--only", "nothing"), ("--requests", REQUESTS / "conversations" / "english.jsonl")],
)
def test_wrong_use(options: tuple[object, ...]) -> None:
    assert evaluate(*options).exit_code == 2


def test_without_a_model_nothing_is_started() -> None:
    assert evaluate().exit_code == 2
