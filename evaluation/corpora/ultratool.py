"""UltraTool: requests with gold chains over 260 tools that are known by a description only (MIT)."""

from pathlib import Path
from typing import Any

import orjson

from domain.errors import UsageError
from domain.tool import ToolId, make_tool_id
from evaluation.corpora.corpus import BenchmarkCorpus, ChainCase, build_tool_record, load_lines

TOOLSET = "ultratool"


def read_corpus(folder: Path) -> BenchmarkCorpus:
    """Read the corpus in ``folder`` (``tool_desc.json``, ``train.jsonl``); a tool's category is its first domain."""
    catalogue = folder / "tool_desc.json"
    if not catalogue.is_file():
        raise UsageError(f"{catalogue} is no file; name the folder of the benchmark")
    nodes: list[dict[str, Any]] = orjson.loads(catalogue.read_bytes())["nodes"]
    ids = {node["id"]: _build_id(node) for node in nodes}
    cases: dict[str, ChainCase] = {}
    for line in load_lines(folder / "train.jsonl"):
        record: dict[str, Any] = dict(line)
        names = [node["task"] for node in record["task_nodes"]]
        if all(name in ids for name in names):
            chain = tuple(dict.fromkeys(ids[name] for name in names))
            request = str(record["user_request"]).strip()
            cases.setdefault(request, ChainCase(str(record["id"]), request, chain))
    documents = (build_tool_record(_get_domain(node), TOOLSET, _to_words(node["id"]), node["desc"]) for node in nodes)
    return BenchmarkCorpus("ultratool", tuple(documents), tuple(cases.values()))


def _build_id(node: dict[str, Any]) -> ToolId:
    return make_tool_id(_get_domain(node), TOOLSET, _to_words(node["id"]))


def _get_domain(node: dict[str, Any]) -> str:
    return str(next(iter(node["domain"]), "other"))


def _to_words(name: str) -> str:
    return name.replace("_", " ")
