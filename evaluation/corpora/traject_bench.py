"""TRAJECT-Bench, sequential part: requests over RapidAPI tools with their chains (MIT)."""

from pathlib import Path
from typing import Any

from domain.model import JsonObject
from domain.tool import make_tool_id
from evaluation.corpora.corpus import BenchmarkCorpus, ChainCase, build_tool_record, load_lines


def read_corpus(folder: Path) -> BenchmarkCorpus:
    """Read the corpus in ``folder`` (``tools.jsonl``, ``sequential_dev.jsonl.gz``).

    A tool that several domains list counts once. Tools of a chain that the catalogue lacks stay in it: they can only be missed. Of
    repeated tools in a chain the last stays, as in cleaning.
    """
    tools: dict[tuple[str, str], JsonObject] = {}
    for line in load_lines(folder / "tools.jsonl"):
        record: dict[str, Any] = dict(line)
        toolset, api = _split_name(record["tool name"])
        text = f"{record['tool description']} {record.get('output_info', {}).get('output_info_summary', '')}"
        tools.setdefault(
            (toolset, api),
            build_tool_record(
                str(record["domain name"]),
                toolset,
                api,
                text,
                record["required_parameters"],
                record["optional_parameters"],
            ),
        )
    cases: dict[str, ChainCase] = {}
    for line in load_lines(folder / "sequential_dev.jsonl.gz"):
        record = dict(line)
        names = dict.fromkeys(reversed([_split_name(step["tool"]) for step in record["steps"]]))
        chain = tuple(make_tool_id(_find_category(tools, name), *name) for name in reversed(names))
        request = str(record["query"])
        cases.setdefault(request, ChainCase(f"{record['domain']}-{record['version']}-{record['idx']}", request, chain))
    return BenchmarkCorpus("traject_bench", tuple(tools.values()), tuple(cases.values()))


def _split_name(tool: str) -> tuple[str, str]:
    """Split ``Tool set: API`` into its two names."""
    toolset, _, api = tool.partition(": ")
    return toolset, api or toolset


def _find_category(tools: dict[tuple[str, str], JsonObject], name: tuple[str, str]) -> str:
    return str(tools[name]["category"]) if name in tools else "unknown"
