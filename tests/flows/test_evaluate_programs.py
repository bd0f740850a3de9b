"""``evaluate.py programs`` as a user runs it, behind a model server that writes the gold programs, or spoilt ones."""

import ast
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.programs.function_names import to_identifier
from evaluation.corpora.graphqlrestbench import ProgramSample, read_samples
from evaluation.program_metrics import METRICS
from tests.models.openai_replies import ChatRequest
from tests.models.openai_server import model_server_in_thread
from tests.support import forked_commands

ROOT = Path(__file__).parents[2]
SCHEMA = """
type GET_search_film_Entry {
  id: Int
  title: String
}
type GET_search_film_Root {
  results: [GET_search_film_Entry]
}
type Query {
  GET_search_film(
    query: String
    token: String!
  ): GET_search_film_Root
    @rest(
      endpoint: "https://films.example/search"
      headers: [{ name: "authorization", value: "Bearer $token;" }]
    )
}
"""


def spec(name: str, parameter: str, kind: str) -> dict[str, Any]:
    declared = {"type": "dict", "properties": {parameter: {"type": kind, "description": ""}}, "required": [parameter]}
    return {"name": name, "description": f"What {name} does.", "parameters": declared}


def row(request: str, title: str) -> dict[str, str]:
    return {
        "domain": "tmdb", "utterance": request, "GraphQL_schema": SCHEMA,
        "function_specs": json.dumps([spec("GET_search_film", "query", "string"), spec("GET_film__id__cast", "id", "integer")]),
        "output": f'r = GET_search_film(query="{title}")\nGET_film__id__cast(id=r.results[0].id)\n',
    }  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows = [row(f"Who plays in {title}?", title) for title in ("Halm", "Rost")]
    (tmp_path / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "valid.jsonl").write_text(json.dumps(row("Who plays in Salz?", "Salz")))
    return tmp_path


def as_written(sample: ProgramSample) -> str:
    """The gold program as authors write it here: awaited calls, keys, our names."""

    class Ours(ast.NodeTransformer):
        def visit_Call(self, node: ast.Call) -> ast.AST:
            self.generic_visit(node)
            if isinstance(node.func, ast.Name) and any(tool.api == node.func.id for tool in sample.tools):
                node.func.id = to_identifier(node.func.id, "tool")
                return ast.Await(node)
            return node

        def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
            self.generic_visit(node)
            return node if node.attr == "join" else ast.Subscript(node.value, ast.Constant(node.attr), node.ctx)

    return ast.unparse(ast.fix_missing_locations(Ours().visit(ast.parse(sample.program)))) + "\n{'answered': 'yes'}"


def measured(
    data: Path, spoil: Callable[[str], str], *arguments: str, form: str = "auto", today: str = "2026-11-23"
) -> tuple[dict[str, Any], list[ChatRequest]]:
    samples, _ = read_samples(data)

    def author(request: ChatRequest) -> str:
        sample = next(one for one in samples if one.request in request.prompt)
        return f"```python\n{spoil(as_written(sample))}\n```"

    with model_server_in_thread(author) as model:
        done = forked_commands.run(
            [sys.executable, str(ROOT / "scripts" / "evaluate.py"), "programs", "--data", str(data), "--json", *arguments],
            cwd=ROOT, env={**os.environ, "FOOTPATH_MODEL_URL": model.url, "FOOTPATH_MODEL_NAME": "rules",
                           "FOOTPATH_PROGRAM_FORM": form, "FOOTPATH_TODAY": today},
            timeout=80,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), model.requests


def test_gold_programs_as_authors_write_them(data: Path) -> None:
    found, requests = measured(data, str)
    assert {name: found["groups"]["all"][name] for name in METRICS} == dict.fromkeys(METRICS, 1)
    assert found["groups"]["tmdb"]["n"] == len(requests) == 3
    assert found["missed"] == []
    assert "'results':list[{'id':int,'title':str}]" in requests[0].prompt


def test_spoilt_ones(data: Path) -> None:
    found, _ = measured(data, lambda text: text.replace("[0]", "[1]"), "--order", "listed", "--limit", "2")
    row = found["groups"]["all"]
    assert (row["n"], row["arg_full"], row["arg_functions"], row["seq_full"], row["seq_conn"]) == (2, 0, 0.5, 1, 1)
    assert len(found["missed"]) == 2


def test_what_the_checks_refuse_is_written_anew(data: Path) -> None:
    found, requests = measured(data, lambda text: re.sub(r"query=", "title=", text), "--limit", "1")
    assert found["refused"] == len(requests) == 3
    assert found["groups"]["all"]["arg_functions"] == 0.5, "the last text counts as it stands"


def test_the_form_and_the_day_are_those_of_the_settings(data: Path) -> None:
    found, requests = measured(data, str, "--limit", "1", form="grammar", today="2031-02-03")
    assert found["unwritten"] == 1, "it says code where a plan is asked for"
    assert str(requests[0].messages[0]["content"]).startswith("You write one plan")
    assert "2031-02-03" in requests[0].prompt


def test_the_folder_is_another(tmp_path: Path) -> None:
    done = forked_commands.run(
        [sys.executable, str(ROOT / "scripts" / "evaluate.py"), "programs", "--data", str(tmp_path)],
        cwd=ROOT, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "train.jsonl is not there" in done.stderr
