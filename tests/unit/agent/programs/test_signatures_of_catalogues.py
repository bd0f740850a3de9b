"""Every tool of real catalogues, and of documents with odd shapes, is a valid function; none is long; a checker reads them all."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from agent.programs.signatures import PREAMBLE, ToolSignature, build_signatures
from domain.errors import BrokenInputError
from domain.tool import ToolDoc
from graph.input_files import read_tools

ROOT = Path(__file__).parents[4]
ODD = ROOT / "tests" / "data" / "openapi"
PLAYGROUND = ROOT / "playground" / "data" / "openapi.json"
MOST_TOKENS = 400


def catalogue(path: Path) -> list[ToolDoc]:
    return [one for one in read_tools(path) if isinstance(one, ToolDoc)]


def valid(docs: list[ToolDoc]) -> list[ToolSignature]:
    """The signatures of a catalogue as one offer, each checked to be a function of a bounded length."""
    made = build_signatures(docs)
    assert len({one.name for one in made}) == len(docs)
    for one in made:
        for text in (one.text, one.short_text, one.stub):
            compile(text, one.tool, "exec")
        assert one.tokens <= MOST_TOKENS, one.text
    exec(PREAMBLE, found := dict[str, object]())
    for one in made:
        exec(one.stub, found)
    return made


def odd_documents() -> list[ToolDoc]:
    found: list[ToolDoc] = []
    for path in sorted(ODD.iterdir()):
        if path.name != "expected.json":
            try:
                found += catalogue(path)
            except BrokenInputError:
                continue
    return found


def test_documents_with_odd_shapes() -> None:
    docs = list({doc.id: doc for doc in odd_documents()}.values())
    assert len(docs) > 60
    valid(docs)


def test_the_playground() -> None:
    made = valid(catalogue(PLAYGROUND))
    assert len(made) > 100
    assert 50 <= statistics.median(one.tokens for one in made) <= 66


def test_a_type_checker_reads_the_stubs(tmp_path: Path) -> None:
    docs = list({doc.id: doc for doc in (*odd_documents(), *catalogue(PLAYGROUND))}.values())
    stubs = tmp_path / "tools.pyi"
    stubs.write_text("\n".join((PREAMBLE, *(one.stub for one in build_signatures(docs)))), encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", str(stubs)], capture_output=True, check=False
    )
    assert json.loads(told.stdout)["summary"]["errorCount"] == 0, told.stdout.decode()


@pytest.mark.shared_data
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("name", "tools"),
    [pytest.param("toolbench/tools.jsonl.gz", 45_113, marks=pytest.mark.outer), ("benchmarks/restbench/tmdb_oas.json", 54), ("benchmarks/restbench/spotify_oas.json", 40)],
)  # fmt: skip
def test_real_catalogues(shared_data: Path, name: str, tools: int) -> None:
    assert len(valid(catalogue(shared_data / name))) == tools
