"""What a source says, read: its tools, and what could not be taken."""

from collections.abc import Sequence
from dataclasses import dataclass

from admission.limits import ReadLimits
from admission.sandboxed_reader import read_document, read_outline
from domain.errors import BrokenInputError
from domain.tool import ToolDoc
from domain.tool_source import Finding, OperationOutline
from server.sources.forms import FormTool, form_docs
from server.storage.source_records import Source
from wiring.settings import Settings
from wiring.source_fetch import fetch_document


@dataclass(frozen=True, slots=True)
class ReadSource:
    """``raw``: as it came. ``skipped``: what could not be taken, each with its reason. ``findings``: about the document as a whole."""

    raw: bytes
    docs: tuple[ToolDoc, ...]
    skipped: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def read_form(source: Source, tools: Sequence[FormTool], raw: bytes) -> ReadSource:
    """The tools that an author wrote by hand. Raises ``BrokenInputError`` where two have one name."""
    docs = form_docs(tools, source.category, source.toolset, source.base_url)
    seen: set[str] = set()
    for doc in docs:
        if doc.id in seen:
            raise BrokenInputError(f"two tools are called {doc.api}; give each its own name", file="the form")
        seen.add(doc.id)
    return ReadSource(raw, docs)


async def read_openapi(settings: Settings, source: Source, document: bytes | None = None) -> ReadSource:
    """The operations that a source takes of an OpenAPI or Swagger document, or of the one at its address.

    Raises ``TooManyOperationsError``, ``BrokenInputError``, ``ForbiddenAddressError`` and ``UnavailableError``, which say what to do.
    """
    if document is None:
        document = await fetch_document(settings, source.address)
    read = await read_document(
        document,
        category=source.category,
        toolset=source.toolset,
        base_url=source.base_url,
        address=source.address,
        operations=source.operations,
        limits=ReadLimits.scale(settings.source_bytes, settings.source_tools),
    )
    return ReadSource(document, read.tools, read.skipped, read.findings)


async def outline_openapi(settings: Settings, address: str, document: bytes | None = None) -> OperationOutline:
    """List the operations of a document, or of the one at an address, for choosing among them. Raises as :func:`read_openapi`."""
    if document is None:
        document = await fetch_document(settings, address)
    limits = ReadLimits.scale(settings.source_bytes, settings.source_tools)
    return await read_outline(document, address=address, limits=limits)
