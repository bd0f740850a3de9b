"""Requests with gold chains of tools: a part to learn the graph from, a part to plan, and a catalogue for both."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic.types import JsonValue

from domain.errors import BrokenInputError, UsageError
from domain.model import JsonObject
from domain.tool import ToolId, tool_id_parts
from graph.function_names import function_name
from graph.importers.lines import read_lines
from graph.importers.records import Record, RecordError, Skipped, load

T = TypeVar("T")
HELD_OUT = 5
"""One request in this many is planned, and one chain in this many is kept out of the learning part altogether."""


@dataclass(frozen=True, slots=True)
class Case:
    """A request and the tools that serve it, in order."""

    id: str
    request: str
    chain: tuple[ToolId, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """A benchmark's tools and requests."""

    name: str
    tools: tuple[JsonObject, ...]
    """Documents in the form of lines of ``tools.jsonl``."""
    cases: tuple[Case, ...]
    """Without repeated ids or requests."""


@dataclass(frozen=True, slots=True)
class Split:
    """The parts of a corpus."""

    learnt: tuple[Case, ...]
    """Requests that the graph is made from."""
    seen: tuple[Case, ...]
    """Other requests, whose chains occur in the learnt part."""
    unseen: tuple[Case, ...]
    """Other requests, whose chains do not."""


def split(cases: Sequence[Case], seed: str = "7") -> Split:
    """Split the requests by a hash of chain and id, so that neither order nor additions move a case."""
    learnt = [case for case in cases if not _drawn(seed, "|".join(case.chain)) and not _drawn(seed, case.id)]
    known = {case.chain for case in learnt}
    rest = [case for case in cases if case not in set(learnt)]
    return Split(
        tuple(learnt),
        tuple(case for case in rest if case.chain in known),
        tuple(case for case in rest if case.chain not in known),
    )


def _drawn(seed: str, text: str) -> bool:
    digest = hashlib.blake2b(f"{seed}\0{text}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % HELD_OUT == 0


def write_sources(corpus: Corpus, learnt: Sequence[Case], folder: Path) -> tuple[Path, Path]:
    """Write catalogue and trajectories in the form that ``build_graph`` reads, and return the two paths."""
    tools, trajectories = folder / "tools.jsonl", folder / "trajectories.jsonl"
    tools.write_bytes(b"\n".join(map(orjson.dumps, corpus.tools)))
    trajectories.write_bytes(b"\n".join(orjson.dumps(_trajectory(corpus, case)) for case in learnt))
    return tools, trajectories


def _trajectory(corpus: Corpus, case: Case) -> JsonObject:
    return {
        "id": case.id,
        "source": corpus.name,
        "query": case.request,
        "calls": [_call(tool) for tool in case.chain],
        "finish": "give_answer",
    }


def _call(tool: ToolId) -> JsonObject:
    category, toolset, api = tool_id_parts(tool)
    return {"function": function_name(api, toolset), "category": category, "tool_name": toolset}


def document(
    category: str, toolset: str, api: str, description: str, required: JsonValue = None, optional: JsonValue = None
) -> JsonObject:
    """Return a line of ``tools.jsonl``, with parameters in RapidAPI's form, as in ToolBench and related benchmarks."""
    return {
        "category": category,
        "tool_name": toolset,
        "api_name": api,
        "function": function_name(api, toolset),
        "description": description,
        "required_parameters": required or [],
        "optional_parameters": optional or [],
    }


def load_lines(path: Path) -> Iterator[Record]:
    """Yield the JSON objects of a file, one a line, plain or gzip. Raises as :func:`read_as`."""
    return read_as(path, lambda record: record)


def read_as(path: Path, form: Callable[[Record], T]) -> Iterator[T]:
    """Yield the result of ``form`` for each line of a file.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line cannot be read, or ``form`` raises ``RecordError`` for it.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; name one of JSON lines")
    for line in read_lines(path):
        if isinstance(line, Skipped):
            raise BrokenInputError(line.reason, file=str(path), line=line.line)
        try:
            yield form(load(line.body))
        except RecordError as error:
            raise BrokenInputError(str(error), file=str(path), line=line.number) from error
