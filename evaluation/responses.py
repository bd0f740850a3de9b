"""Responses with their tools, one at a time: from recorded calls, and the examples of documents."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from domain.tool import ToolDoc, tool_id
from graph.function_names import NameIndex
from graph.importers.jsonl import recorded_call
from graph.importers.lines import read_lines
from graph.importers.records import RecordError, Skipped, load
from graph.sources import read_tools

Skip = Callable[[Skipped], None]


class Documents:
    """Documents by the names that recorded calls use; a call without a document gets one with its name only."""

    def __init__(self, tools: Iterable[ToolDoc | Skipped] = ()) -> None:
        self.skipped: list[Skipped] = []
        self._names = NameIndex()
        self._docs: dict[str, ToolDoc] = {}
        for found in tools:
            if isinstance(found, Skipped):
                self.skipped.append(found)
            else:
                self._names.add(found)
                self._docs.setdefault(found.id, found)

    def of_call(self, category: str, toolset: str, api: str) -> ToolDoc:
        """Return the document that a recorded call refers to."""
        found = self._docs.get(self._names.resolve_recorded(category, toolset, api).id)
        if found is not None:
            return found
        name = api or "unnamed"
        made = tool_id(category or "unnamed", toolset or "unnamed", name)
        return ToolDoc(id=made, category=category, toolset=toolset, api=name, function=name)

    def examples(self) -> Iterator[tuple[ToolDoc, str]]:
        """Return an iterator over the documents that have an example response, with that response."""
        return ((doc, doc.example_response) for doc in self._docs.values() if doc.example_response)


def documents(tools: Path | None) -> Documents:
    """Load the documents of a file or folder; none for None.

    Raises:
        UsageError: the path does not exist.
    """
    return Documents(read_tools(tools) if tools else ())


def recorded_responses(
    calls: Path, docs: Documents, skip: Skip, read: Callable[[float], None]
) -> Iterator[tuple[ToolDoc, str]]:
    """Yield the responses of a file of recorded calls in order, each with its tool.

    Args:
        calls: the file.
        docs: the tools by the names that calls use.
        skip: gets each line that cannot be read.
        read: gets the share of the file that has been read.
    """
    known: dict[tuple[str, str, str], ToolDoc] = {}
    size = max(1, calls.stat().st_size)
    for line in read_lines(calls):
        if isinstance(line, Skipped):
            skip(line)
            continue
        try:
            call = recorded_call(load(line.body))
        except RecordError as error:
            skip(Skipped(str(calls), line.number, str(error)))
            continue
        name = (call.category, call.toolset, call.function)
        if name not in known:
            known[name] = docs.of_call(*name)
        read(line.position / size)
        yield known[name], call.response
