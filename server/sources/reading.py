"""What a source says, read: its tools, and what could not be taken."""

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.errors import BrokenInputError
from domain.tool import ToolDoc, tool_id
from graph.function_names import function_name
from graph.importers.openapi import read_openapi
from server.sources.forms import FormTool, form_docs
from server.storage.sources.models import Source


@dataclass(frozen=True, slots=True)
class ReadSource:
    """``raw``: as it came. ``skipped``: what could not be taken, each with its reason."""

    raw: bytes
    docs: tuple[ToolDoc, ...]
    skipped: tuple[str, ...] = ()


def read_form(source: Source, tools: Sequence[FormTool], raw: bytes) -> ReadSource:
    """The tools that an author wrote by hand. Raises ``BrokenInputError`` where two have one name."""
    docs = form_docs(tools, source.category, source.toolset, source.base_url)
    return ReadSource(raw, _once(docs))


async def read_text(source: Source, document: bytes) -> ReadSource:
    """The operations of an OpenAPI or Swagger document. Raises ``BrokenInputError``."""
    return await asyncio.to_thread(_read_openapi, source, document)


def _read_openapi(source: Source, document: bytes) -> ReadSource:
    skipped: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        suffix = "json" if document.lstrip()[:1] == b"{" else "yaml"
        path = Path(folder) / f"document.{suffix}"
        path.write_bytes(document)
        try:
            read = list(read_openapi(path, lambda error: skipped.append(_plain(error, path)), server=source.base_url))
        except BrokenInputError as error:
            raise BrokenInputError(_plain(error, path), file="the document") from error
    return ReadSource(document, _once([_placed(doc, source) for doc in read]), tuple(skipped))


def _placed(doc: ToolDoc, source: Source) -> ToolDoc:
    """In the source's own category and tool set, so that no document speaks for another's tools."""
    return doc.model_copy(
        update={
            "id": tool_id(source.category, source.toolset, doc.api),
            "category": source.category,
            "toolset": source.toolset,
            "function": function_name(doc.api, source.toolset),
        }
    )


def _once(docs: Sequence[ToolDoc]) -> tuple[ToolDoc, ...]:
    seen: set[str] = set()
    for doc in docs:
        if doc.id in seen:
            raise BrokenInputError(f"two tools are called {doc.api}; give each its own name", file="the document")
        seen.add(doc.id)
    return tuple(docs)


def _plain(error: BrokenInputError, path: Path) -> str:
    return str(error).replace(f"{path}: ", "").replace(str(path), "the document")
