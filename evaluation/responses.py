"""Responses with their tools, one at a time: from recorded calls, and the examples of documents."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from domain.tool import ToolDoc, make_tool_id
from graph.function_names import NameIndex
from graph.importers.jsonl import parse_recorded_call
from graph.importers.lines import read_lines
from graph.importers.records import RecordError, SkippedInput, load
from graph.input_files import read_tools

Skip = Callable[[SkippedInput], None]
"""Receives a line that cannot be read."""


class RecordedToolDocs:
    """Documents by the names that recorded calls use; a call without a document gets one with its name only."""

    def __init__(self, tools: Iterable[ToolDoc | SkippedInput] = ()) -> None:
        self.skipped: list[SkippedInput] = []
        self._names = NameIndex()
        self._docs: dict[str, ToolDoc] = {}
        for tool in tools:
            if isinstance(tool, SkippedInput):
                self.skipped.append(tool)
            else:
                self._names.add(tool)
                self._docs.setdefault(tool.id, tool)

    def find_document(self, category: str, toolset: str, api: str) -> ToolDoc:
        """Return the document that a recorded call refers to."""
        document = self._docs.get(self._names.resolve_recorded(category, toolset, api).id)
        if document is not None:
            return document
        name = api or "unnamed"
        generated_id = make_tool_id(category or "unnamed", toolset or "unnamed", name)
        return ToolDoc(id=generated_id, category=category, toolset=toolset, api=name, function=name)

    def iterate_examples(self) -> Iterator[tuple[ToolDoc, str]]:
        """Return an iterator over the documents that have an example response, with that response."""
        return ((doc, doc.example_response) for doc in self._docs.values() if doc.example_response)


def load_documents(tools: Path | None) -> RecordedToolDocs:
    """Load the documents of a file or folder; none for None.

    Raises:
        UsageError: the path does not exist.
    """
    return RecordedToolDocs(read_tools(tools) if tools else ())


def read_responses(
    calls: Path, docs: RecordedToolDocs, skip: Skip, progress: Callable[[float], None]
) -> Iterator[tuple[ToolDoc, str]]:
    """Yield the responses of a file of recorded calls in order, each with its tool.

    Args:
        calls: the file.
        docs: the tools by the names that calls use.
        skip: gets each line that cannot be read.
        progress: gets the share of the file that has been read.
    """
    docs_by_name: dict[tuple[str, str, str], ToolDoc] = {}
    size = max(1, calls.stat().st_size)
    for line in read_lines(calls):
        if isinstance(line, SkippedInput):
            skip(line)
            continue
        try:
            call = parse_recorded_call(load(line.body))
        except RecordError as error:
            skip(SkippedInput(str(calls), line.number, str(error)))
            continue
        name = (call.category, call.toolset, call.function)
        if name not in docs_by_name:
            docs_by_name[name] = docs.find_document(*name)
        progress(line.position / size)
        yield docs_by_name[name], call.response
