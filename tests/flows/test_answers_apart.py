"""``evaluate.py answers --playground`` behind a model server: runs apart, judged, kept, gone on with."""

import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from pathlib import Path
from types import MappingProxyType

import orjson
import pytest

from evaluation.evaluation_cases import read_evaluation_cases
from tests.models.knowing_author import KnowingAuthor
from tests.models.openai_server import ModelServer, model_server_in_thread
from tests.support import forked_commands

ROOT = Path(__file__).parents[2]
REQUESTS = ROOT / "playground" / "requests"
FILES = REQUESTS / "programs"
KINDS = ("counts", "ordered_changes", "cannot")
TALKS = {"english": ("en-second-place", "en-the-one-from", "en-order-three"), "german": ("de-neues-thema",)}
ASKING = {"needed": ("ask-which-oswin", "ask-table-time"), "needless": ("plain-full-name",)}


@pytest.fixture(scope="module")
def model() -> Generator[ModelServer]:
    files = [
        REQUESTS / folder / f"{name}.jsonl"
        for folder, some in (("conversations", TALKS), ("asking", ASKING))
        for name in some
    ]
    known = read_evaluation_cases([*files, *(FILES / f"{kind}.jsonl" for kind in KINDS)])
    with model_server_in_thread(KnowingAuthor(known)) as served:
        yield served


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Files with some dialogues and some requests that have to be asked about, or look like it."""
    folder = tmp_path_factory.mktemp("talks")
    for kind, some in (("conversations", TALKS), ("asking", ASKING)):
        for name, chosen in some.items():
            lines = (REQUESTS / kind / f"{name}.jsonl").read_bytes().splitlines(keepends=True)
            (folder / f"{name}.jsonl").write_bytes(
                b"".join(line for line in lines if orjson.loads(line)["id"] in chosen)
            )
    return [part for file in folder.iterdir() for part in ("--requests", str(file))]


def evaluate(
    model: ModelServer,
    *arguments: str,
    kinds: tuple[str, ...] = KINDS,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.CompletedProcess[str]:
    files = [part for kind in kinds for part in ("--requests", str(FILES / f"{kind}.jsonl"))]
    return forked_commands.run(
        [sys.executable, str(ROOT / "scripts" / "evaluate.py"), "answers", "--playground", "--policy", "llm", "--planner", "program",
         "--at-once", "3", *files, *arguments],
        cwd=ROOT, env={**os.environ, "FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules", "COLUMNS": "200", **environment},
        timeout=150,
    )  # fmt: skip


@pytest.mark.timeout(200)
def test_who_makes_no_mistake_is_right_throughout(model: ModelServer, talks: list[str], tmp_path: Path) -> None:
    """Also of changes, of turns that go on from others, and of what has to be asked. Several at a time: each has a service of its own. A second go
    asks nobody but about what is not there, a dialogue as a whole.
    """
    kept = tmp_path / "kept.jsonl"
    done = evaluate(model, *talks, "--results", str(kept), "--json")
    assert done.returncode == 0, done.stderr
    found = orjson.loads(done.stdout)
    assert found["failures"] == []
    assert found["groups"]["ordered_changes"] == {"n": 10, "right": 10, "share": 1}
    assert found["costs"]["counts"]["model_calls"]["p50"] == 1
    assert found["costs"]["counts"]["tokens"]["max"] > 500
    assert found["turns"]["english"]["whole"] == {"n": 3, "right": 3}
    assert found["turns"]["english"]["turns"]["2"]["tokens"]["mean"] > 500
    assert found["asking"]["needed"]["needed"] == {"n": 2, "once": 2, "of_several": 1, "right_choices": 1}
    assert found["asking"]["needless"]["asked"] == {"none": 1, "once": 0, "more": 0}
    assert len(kept.read_text().splitlines()) == found["done"] == 37
    lines = kept.read_bytes().splitlines(keepends=True)
    left_out = (orjson.loads(lines[0])["id"], "en-order-three.2")
    kept.write_bytes(b"".join(line for line in lines if orjson.loads(line)["id"] not in left_out))
    asked = len(model.requests)
    again = orjson.loads(evaluate(model, *talks, "--results", str(kept), "--json").stdout)
    for figures in ("groups", "asking"):
        assert again[figures] == found[figures]
    assert 3 <= len(model.requests) - asked <= 6, "only what was not there"
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
