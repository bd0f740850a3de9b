"""Documents of the playground's catalogue for a playground that runs on another port."""

from functools import cache
from urllib.parse import urlsplit

from domain.tool import ToolDoc
from graph.input_files import read_tools
from tests.support.source_tree import ROOT


def playground_tools(address: str, *names: str) -> list[ToolDoc]:
    """The operations of these names, to be called at this address."""
    return [_at(_catalogue()[name], address) for name in names]


@cache
def _catalogue() -> dict[str, ToolDoc]:
    found = read_tools(ROOT / "playground" / "data" / "openapi.json")
    return {doc.api: doc for doc in found if isinstance(doc, ToolDoc)}


def _at(doc: ToolDoc, address: str) -> ToolDoc:
    parts = urlsplit(doc.url)
    return doc.model_copy(update={"url": address + doc.url.removeprefix(f"{parts.scheme}://{parts.netloc}")})
