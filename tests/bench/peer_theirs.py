"""What graph-tool-call offers for requests, by the ways that its documentation names. Run by a Python that has it installed; nothing of ours is there.

Standard input: ``{"documents": [OpenAPI files], "requests": [...], "way": WAY, "embedding": SPEC, "sizes": [5, 16]}``. Standard output: one JSON object.
"""

# pyright: basic, reportMissingImports=false

import json
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from graph_tool_call import ToolGraph
from graph_tool_call.graphify import (
    assemble_tool_bundle,
    ingest_openapi_graphify,
    select_target_candidate,
)
from graph_tool_call.ingest.openapi import ingest_openapi
from graph_tool_call.langchain.tools import tool_schema_to_openai_function

Tools = dict[str, Any]
WAYS = ("keywords", "embedding", "scale", "bundle")
"""``keywords``: as it is without extras. ``embedding``: and ``enable_embedding``. ``scale``: and ``tune_for_scale``. ``bundle``: of what is
retrieved, a target is selected and its required producers put beside it (``assemble_tool_bundle``)."""


def built(way: str, documents: list[str], embedding: str) -> Any:
    """The graph of all documents."""
    read = [json.loads(Path(one).read_bytes()) for one in documents]
    if way == "bundle":
        graph, _ = ingest_openapi_graphify([tool for one in read for tool in ingest_openapi(one)[0]])
    else:
        graph = ToolGraph()
        for at, one in enumerate(read):
            graph.ingest_openapi(one, source_label=f"source{at}", on_conflict="prefix")
    if embedding and way != "keywords":
        graph.enable_embedding(embedding)
    if way == "scale":
        graph.tune_for_scale()
    return graph


def offered(way: str, graph: Any, request: str, size: int) -> tuple[list[str], list[Any]]:
    """Names, best first, and what a model is given of them."""
    if way != "bundle":
        tools = graph.retrieve(request, top_k=size)
        return [tool.name for tool in tools], [tool_schema_to_openai_function(tool) for tool in tools]
    rows = [
        {"name": row.tool.name, "score": float(row.score), "rank": rank}
        for rank, row in enumerate(graph.retrieve_with_scores(request, top_k=size), 1)
    ]
    names = [str(row["name"]) for row in rows]
    index: Tools = {name: tool.to_dict() for name, tool in graph.tools.items()}
    chosen = select_target_candidate(request, names, index, retrieval_results=rows)
    target = str(chosen.get("selected_target") or (names[0] if names else ""))
    bundle = assemble_tool_bundle(request, target, index, graph=graph.graph, target_alternatives=names)
    kept = bundle.admitted_tools[:size]
    return kept, [bundle.projected_schemas[name] for name in kept]


def peak_mb() -> float:
    """Of this process alone: what is told of its resources begins with the size of the one that started it."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    """One way over one catalogue."""
    asked = json.loads(sys.stdin.read())
    way, sizes = asked["way"], asked["sizes"]
    began = time.process_time()
    graph = built(way, asked["documents"], asked["embedding"])
    offered(way, graph, "anything", max(sizes))  # whatever it makes at the first request belongs to building
    seconds = time.process_time() - began
    rows: list[dict[str, Any]] = []
    for request in asked["requests"]:
        began = time.process_time()
        names, shown = offered(way, graph, request, max(sizes))
        row: dict[str, Any] = {"seconds": time.process_time() - began}
        for size in sizes:
            text = json.dumps(shown[:size], ensure_ascii=False, separators=(",", ":"))
            row[str(size)] = {"tools": names[:size], "characters": len(text)}
        rows.append(row)
    told = {
        name: f"{tool.metadata['method'].upper()} {tool.metadata.get('base_url') or ''}{tool.metadata['path']}"
        for name, tool in graph.tools.items()
    }
    figures = {"version": version("graph-tool-call"), "tools": told, "ways": {way: rows}, "seconds": seconds}
    print(json.dumps({**figures, "peak_mb": peak_mb()}))


if __name__ == "__main__":
    main()
