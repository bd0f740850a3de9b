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
from domain.tool import ToolId, split_tool_id
from graph.function_names import build_function_name
from graph.importers.lines import read_lines
from graph.importers.records import Record, RecordError, SkippedInput, load

T = TypeVar("T")
HELD_OUT = 5
"""One request in this many is planned, and one chain in this many is kept out of the learning part altogether."""


@dataclass(frozen=True, slots=True)
class ChainCase:
    """A request and the tools that serve it, in order."""

    id: str
    request: str
    chain: tuple[ToolId, ...]


@dataclass(frozen=True, slots=True)
class BenchmarkCorpus:
    """A benchmark's tools and requests."""

    name: str
    tools: tuple[JsonObject, ...]
    """Documents in the form of lines of ``tools.jsonl``."""
    cases: tuple[ChainCase, ...]
    """Without repeated ids or requests."""


@dataclass(frozen=True, slots=True)
class CorpusSplit:
    """The parts of a corpus."""

    learnt: tuple[ChainCase, ...]
    """Requests that the graph is made from."""
    seen: tuple[ChainCase, ...]
    """Other requests, whose chains occur in the learnt part."""
    unseen: tuple[ChainCase, ...]
    """Other requests, whose chains do not."""


def split_cases(cases: Sequence[ChainCase], seed: str = "7") -> CorpusSplit:
    """Split the requests by a hash of chain and id, so that neither order nor additions move a case."""
    learnt = [case for case in cases if not _is_drawn(seed, "|".join(case.chain)) and not _is_drawn(seed, case.id)]
    learnt_chains = {case.chain for case in learnt}
    rest = [case for case in cases if case not in set(learnt)]
    return CorpusSplit(
        tuple(learnt),
        tuple(case for case in rest if case.chain in learnt_chains),
        tuple(case for case in rest if case.chain not in learnt_chains),
    )


def _is_drawn(seed: str, text: str) -> bool:
    digest = hashlib.blake2b(f"{seed}\0{text}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % HELD_OUT == 0


def write_sources(corpus: BenchmarkCorpus, learnt: Sequence[ChainCase], folder: Path) -> tuple[Path, Path]:
    """Write catalogue and trajectories in the form that ``build_graph`` reads, and return the two paths."""
    tools, trajectories = folder / "tools.jsonl", folder / "trajectories.jsonl"
    tools.write_bytes(b"\n".join(map(orjson.dumps, corpus.tools)))
    trajectories.write_bytes(b"\n".join(orjson.dumps(_build_trajectory(corpus, case)) for case in learnt))
    return tools, trajectories


def _build_trajectory(corpus: BenchmarkCorpus, case: ChainCase) -> JsonObject:
    return {
        "id": case.id,
        "source": corpus.name,
        "query": case.request,
        "calls": [_build_call(tool) for tool in case.chain],
        "finish": "give_answer",
    }


def _build_call(tool: ToolId) -> JsonObject:
    category, toolset, api = split_tool_id(tool)
    return {"function": build_function_name(api, toolset), "category": category, "tool_name": toolset}


def build_tool_record(
    category: str, toolset: str, api: str, description: str, required: JsonValue = None, optional: JsonValue = None
) -> JsonObject:
    """Return a line of ``tools.jsonl``, with parameters in RapidAPI's form, as in ToolBench and related benchmarks."""
    return {
        "category": category,
        "tool_name": toolset,
        "api_name": api,
        "function": build_function_name(api, toolset),
        "description": description,
        "required_parameters": required or [],
        "optional_parameters": optional or [],
    }


def load_lines(path: Path) -> Iterator[Record]:
    """Yield the JSON objects of a file, one a line, plain or gzip. Raises as :func:`read_parsed_lines`."""
    return read_parsed_lines(path, lambda record: record)


def read_parsed_lines(path: Path, parse: Callable[[Record], T]) -> Iterator[T]:
    """Yield the result of ``parse`` for each line of a file.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line cannot be read, or ``parse`` raises ``RecordError`` for it.
    """
    if not path.is_file():
        raise UsageError(f"{path} is no file; name one of JSON lines")
    for line in read_lines(path):
        if isinstance(line, SkippedInput):
            raise BrokenInputError(line.reason, file=str(path), line=line.line)
        try:
            yield parse(load(line.body))
        except RecordError as error:
            raise BrokenInputError(str(error), file=str(path), line=line.number) from error
