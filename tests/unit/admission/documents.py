"""Documents of sources, in short."""

import json
from typing import Any

import orjson

from admission.limits import ReadLimits
from admission.reading_process import render_tools
from admission.sandboxed_reader import ImportedDocument, read_document
from domain.tool import ToolDoc
from domain.tool_source import OperationChoice

Json = dict[str, Any]
ADDRESS = "https://harbour.example/openapi.json"


def document(paths: Json, **parts: Any) -> Json:
    """An OpenAPI document of these paths."""
    return {
        "openapi": "3.0.3",
        "info": {"title": "Harbour", "description": "Ships and berths."},
        "servers": [{"url": "/v1"}],
        "paths": paths,
        **parts,
    }


def operation(name: str, **parts: Any) -> Json:
    """An operation of this name."""
    return {
        "operationId": name,
        "description": f"What {name} gives, in words that say enough.",
        "responses": {},
        **parts,
    }


async def read(
    content: Json | bytes,
    limits: ReadLimits | None = None,
    base_url: str = "",
    operations: OperationChoice | None = None,
) -> ImportedDocument:
    """What a document comes to as the source Harbour."""
    data = content if isinstance(content, bytes) else orjson.dumps(content)
    return await read_document(
        data,
        category="Ports",
        toolset="Harbour",
        address=ADDRESS,
        base_url=base_url,
        operations=operations,
        limits=limits,
    )


def tools(content: Json | bytes) -> dict[str, ToolDoc]:
    """Its tools by name, read in this process: a document of ours does no harm."""
    data = content if isinstance(content, bytes) else orjson.dumps(content)
    wanted = {"category": "Ports", "toolset": "Harbour", "server": ADDRESS}
    *found, _ = render_tools(data, wanted, ReadLimits())
    return {tool.api: tool for tool in map(ToolDoc.model_validate_json, found)}


def copied(content: Json) -> Json:
    """A document that shares nothing with the first."""
    return json.loads(json.dumps(content))
