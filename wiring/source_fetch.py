"""Fetching of documents for sources and builds from the addresses that their authors give."""

import asyncio
import re
from collections.abc import AsyncGenerator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from domain.tool import ToolDoc
from graph.importers.records import SkippedInput
from graph.input_files import read_fetched, read_tools
from wiring.settings import Settings

if TYPE_CHECKING:
    from agent.execution.http.document_fetch import FetchLimits

_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_SUFFIXES = (".json", ".yaml", ".yml", ".csv", ".jsonl", ".gz")
_MIB = 1024 * 1024
_MAX_BYTES, _MAX_SECONDS = 64 * _MIB, 60.0
"""Limits of one document of a build: as large as one that is read from a file."""


def is_address(source: Path | str) -> bool:
    """Return whether a source of tools is an address to fetch from, and no path."""
    return isinstance(source, str) and _ADDRESS.match(source) is not None


class FetchedDocuments:
    """Reader of sources of tools, some of which were fetched from addresses into files."""

    def __init__(self, addresses: dict[Path, str]) -> None:
        self._addresses = addresses

    def read(self, path: Path, server: str = "") -> Iterator[ToolDoc | SkippedInput]:
        """Yield the documents at a path. Raises as ``read_tools``."""
        address = self._addresses.get(path)
        return read_tools(path, server) if address is None else read_fetched(path, address, server)


@asynccontextmanager
async def fetch_sources(
    settings: Settings, sources: Iterable[Path | str]
) -> AsyncGenerator[tuple[tuple[Path, ...], FetchedDocuments]]:
    """Yield the paths of the sources, fetched into temporary files where they are addresses, and their reader.

    Raises as :func:`fetch_document`.
    """
    from agent.execution.http.document_fetch import FetchLimits

    source_list = list(sources)
    if not any(map(is_address, source_list)):
        yield tuple(map(Path, source_list)), FetchedDocuments({})
        return
    paths: list[Path] = []
    addresses: dict[Path, str] = {}
    folder = await asyncio.to_thread(TemporaryDirectory[str], prefix="footpath-fetched-")
    try:
        for number, source in enumerate(source_list):
            if not is_address(source):
                paths.append(Path(source))
                continue
            content = await fetch_document(settings, str(source), FetchLimits(size=_MAX_BYTES, seconds=_MAX_SECONDS))
            path = Path(folder.name) / str(number) / _choose_file_name(str(source), content)
            await asyncio.to_thread(_write_file, path, content)
            addresses[path] = str(source)
            paths.append(path)
        yield tuple(paths), FetchedDocuments(addresses)
    finally:
        await asyncio.to_thread(folder.cleanup)


def _write_file(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)


def _choose_file_name(address: str, content: bytes) -> str:
    """Return a file name by which the content is read as what it is.

    It is the address's own name where that has a known suffix.
    """
    name = re.sub(r"[^\w.-]", "_", PurePosixPath(urlsplit(address).path).name)[-100:]
    if PurePosixPath(name).suffix.lower() in _SUFFIXES:
        return name
    begin = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    lines = begin == b"{" and all(line.lstrip()[:1] == b"{" for line in content.splitlines()[:3] if line.strip())
    is_jsonl = lines and content.strip().count(b"\n") > 0
    return f"{name or 'document'}{'.jsonl' if is_jsonl else '.json' if begin in (b'{', b'[') else '.yaml'}"


async def fetch_document(settings: Settings, address: str, limits: "FetchLimits | None" = None) -> bytes:
    """Fetch the document at ``address``, over https or http.

    The address has to be public, or allowed by ``FOOTPATH_ALLOW_HOSTS``; the document has at most
    ``FOOTPATH_SOURCE_BYTES``, unless ``limits`` say otherwise. Up to three redirects are followed, each checked as the
    first address is.

    Raises:
        ForbiddenAddressError: the address, or what it redirects to, may not be reached.
        UnavailableError: nothing came, or not in time.
        BrokenInputError: what came is no document.
    """
    from agent.execution.http.document_fetch import FetchLimits, fetch_guarded
    from agent.execution.http.guard import AddressGuard

    return await fetch_guarded(
        address, AddressGuard(settings.allow_hosts), limits or FetchLimits(size=settings.source_bytes)
    )
