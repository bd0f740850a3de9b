"""TRAJECT-Bench, sequential part: requests over RapidAPI tools with their chains (MIT)."""

from pathlib import Path
from typing import Any

from domain.model import JsonObject
from domain.tool import tool_id
from evaluation.corpora.corpus import Case, Corpus, document, load_lines


def read(folder: Path) -> Corpus:
    """Read the corpus in ``folder`` (``tools.jsonl``, ``sequential_dev.jsonl.gz``).

    A tool that several domains list counts once. Tools of a chain that the catalogue lacks stay in it: they can only be missed. Of
    repeated tools in a chain the last stays, as in cleaning.
    """
    tools: dict[tuple[str, str], JsonObject] = {}
    for line in load_lines(folder / "tools.jsonl"):
        record: dict[str, Any] = dict(line)
        toolset, api = _names(record["tool name"])
        text = f"{record['tool description']} {record.get('output_info', {}).get('output_info_summary', '')}"
        tools.setdefault(
            (toolset, api),
            document(
                str(record["domain name"]),
                toolset,
                api,
                text,
                record["required_parameters"],
                record["optional_parameters"],
            ),
        )
    cases: dict[str, Case] = {}
    for line in load_lines(folder / "sequential_dev.jsonl.gz"):
        record = dict(line)
        names = dict.fromkeys(reversed([_names(step["tool"]) for step in record["steps"]]))
        chain = tuple(tool_id(_category(tools, name), *name) for name in reversed(names))
        request = str(record["query"])
        cases.setdefault(request, Case(f"{record['domain']}-{record['version']}-{record['idx']}", request, chain))
    return Corpus("traject_bench", tuple(tools.values()), tuple(cases.values()))


def _names(tool: str) -> tuple[str, str]:
    """Split ``Tool set: API`` into its two names."""
    toolset, _, api = tool.partition(": ")
    return toolset, api or toolset


def _category(tools: dict[tuple[str, str], JsonObject], name: tuple[str, str]) -> str:
    return str(tools[name]["category"]) if name in tools else "unknown"
