"""``evaluate.py answers --playground`` behind a model server: runs apart, judged, kept, gone on with."""

import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from types import MappingProxyType

import orjson
import pytest

from evaluation.expected import read_asked
from tests.models.knowing_author import KnowingAuthor
from tests.models.openai_server import ModelServer, model_server_in_thread

ROOT = Path(__file__).parents[2]
FILES = ROOT / "playground" / "requests" / "programs"
KINDS = ("counts", "ordered_changes", "cannot")


@pytest.fixture(scope="module")
def model() -> Generator[ModelServer]:
    with model_server_in_thread(KnowingAuthor(read_asked([FILES / f"{kind}.jsonl" for kind in KINDS]))) as served:
        yield served


def evaluate(
    model: ModelServer,
    *arguments: str,
    kinds: tuple[str, ...] = KINDS,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:
    files = [part for kind in kinds for part in ("--requests", str(FILES / f"{kind}.jsonl"))]
    return subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "evaluate.py"), "answers", "--playground", "--policy", "llm", "--planner", "program",
         "--at-once", "3", *files, *arguments],
        cwd=ROOT, env={**os.environ, "FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules", "COLUMNS": "200", **environment},
        capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip


@pytest.mark.timeout(200)
def test_who_makes_no_mistake_is_right_throughout(model: ModelServer, tmp_path: Path) -> None:
    """Also of changes, several at a time: each has a service of its own. A second go asks nobody."""
    kept = tmp_path / "kept.jsonl"
    done = evaluate(model, "--results", str(kept), "--json")
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert found["failures"] == []
    assert found["groups"]["ordered_changes"] == {"n": 10, "right": 10, "share": 1}
    assert found["costs"]["counts"]["model_calls"]["p50"] == 1
    assert found["costs"]["counts"]["tokens"]["max"] > 500
    assert len(kept.read_text().splitlines()) == found["done"] == 25
    lines = kept.read_bytes().splitlines(keepends=True)
    kept.write_bytes(b"".join(lines[1:]))
    asked = len(model.requests)
    again = orjson.loads(evaluate(model, "--results", str(kept), "--json").stdout)
    assert again["groups"] == found["groups"]
    assert 1 <= len(model.requests) - asked <= 3, "only what was not there"
    for name, value in (("FOOTPATH_MODEL_NAME", "another"), ("FOOTPATH_PROGRAM_FORM", "grammar")):
        mixed = evaluate(model, "--results", str(kept), environment={name: value})
        assert (mixed.returncode, "other conditions" in mixed.stderr) == (2, True)


@pytest.mark.timeout(100)
def test_half_of_the_lines_without_schemas(model: ModelServer) -> None:
    seen = len(model.requests)
    done = evaluate(
        model, "--lines", "odd", "--limit", "2", "--no-schemas", "--offer-tokens", "1500", kinds=("counts",)
    )
    assert done.returncode == 0, done.stderr
    assert "counts" in done.stdout
    prompts = [request.prompt for request in model.requests[seen:]]
    assert prompts
    assert all("def searchPerson" not in prompt or "num_citation" not in prompt for prompt in prompts)
