"""Training set of a retriever, from tool documents, trajectories and other catalogues."""

import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.errors import BrokenInputError, UsageError
from domain.tool import Parameter, ToolDoc, ToolId, tool_id
from domain.trajectory import Trajectory
from evaluation.api_keys import Key, key_of
from evaluation.corpora.corpus import read_as
from evaluation.queries import Query
from evaluation.tuning import labelled_requests, split_of
from graph.function_names import NameIndex
from graph.importers.records import Record, RecordError, as_list, as_object, load, optional_text, text
from retriever.training.examples import Corpus, Example, corpus_of

_OF_A_PLUGIN = 3
"""Requests that are taken for each plugin: MetaTool has thousands for some, and one for others."""


@dataclass(frozen=True, slots=True)
class Foreign:
    """Another catalogue: its documents, and requests with the tools that solve them."""

    documents: tuple[ToolDoc, ...]
    requests: tuple[tuple[str, tuple[ToolId, ...]], ...]


def training_set(
    documents: Sequence[ToolDoc],
    trajectories: Iterable[Trajectory],
    measured: Sequence[Query],
    foreign: Sequence[Foreign] = (),
    of_foreign: int = 300,
    most: Mapping[str, int] | None = None,
) -> tuple[Corpus, list[Example]]:
    """Return all documents, and an example for each request whose trajectory ends in an answer.

    Requests near a measured one are left out. ``of_foreign``: largest number of requests of other catalogues, chosen by
    chance. ``most``: for a source of trajectories that is unlike the requests to be served, the largest number of its
    requests, none of which are used to judge.
    """
    names, walked = NameIndex(documents), list(trajectories)
    unlike = dict(most or {})
    own = labelled_requests((one for one in walked if one.source not in unlike), names, measured)
    corpus = corpus_of([*documents, *(document for one in foreign for document in one.documents)])
    rows: dict[Key, int] = {}
    for document in sorted(documents, key=lambda one: one.id):
        rows.setdefault(key_of(document.id), corpus.row[document.id])
    examples = _examples(own, rows, foreign=False)
    for source, count in unlike.items():
        of_source = (one for one in walked if one.source == source)
        examples += _examples(labelled_requests(of_source, names, measured), rows, foreign=True)[:count]
    others = [pair for one in foreign for pair in one.requests]
    others = random.Random(7).sample(others, min(of_foreign, len(others)))
    examples += [Example(request, tuple(corpus.row[tool] for tool in tools), foreign=True) for request, tools in others]
    return corpus, examples


def queries_of(corpus: Corpus, examples: Sequence[Example]) -> list[Query]:
    """Return examples as labelled requests."""
    found: list[Query] = []
    for example in examples:
        relevant = frozenset(key_of(corpus.ids[row]) for row in example.solved)
        found.append(Query(split_of(relevant), example.request, relevant))
    return found


def _examples(queries: Sequence[Query], rows: Mapping[Key, int], *, foreign: bool) -> list[Example]:
    return [
        Example(query.query, solved, foreign)
        for query in queries
        if (solved := tuple(sorted(rows[key] for key in query.relevant if key in rows)))
    ]


def seal_tools(folder: Path) -> Foreign:
    """Read the catalogue Seal-Tools: ``tool.jsonl`` and ``dev.jsonl``.

    ``UsageError`` where they are missing, ``BrokenInputError`` for a line.
    """
    documents = {one.api: one for one in read_as(folder / "tool.jsonl", _seal_tool)}

    def request(record: Record) -> tuple[str, tuple[ToolId, ...]]:
        calls = [as_object(item, "an item of 'calling'") for item in as_list(record.get("calling"), "'calling'")]
        tools = dict.fromkeys(documents[name].id for call in calls if (name := text(call, "api")) in documents)
        return text(record, "query"), tuple(tools)

    requests = [one for one in read_as(folder / "dev.jsonl", request) if one[1]]
    return Foreign(tuple(documents.values()), tuple(requests))


def _seal_tool(record: Record) -> ToolDoc:
    name, field = text(record, "api_name"), (optional_text(record, "field") or "other").split("/")
    inputs = [Parameter(name=one) for one in as_object(record.get("parameters") or {}, "'parameters'")]
    return _document(f"seal {field[0]}", field[-1], name, optional_text(record, "api_description") or "", tuple(inputs))


def metatool(folder: Path) -> Foreign:
    """Read the catalogue MetaTool: ``plugin_des.json``, and a few requests of each tool of ``all_clean_data.csv``.

    Raises as :func:`seal_tools`.
    """
    plugins = folder / "plugin_des.json"
    try:
        described = as_object(load(_bytes(plugins)), "the file")
    except RecordError as error:
        raise BrokenInputError(str(error), file=str(plugins)) from error
    documents = {name.casefold(): _document("plugins", name, name, str(about)) for name, about in described.items()}
    taken: dict[str, int] = {}
    requests: list[tuple[str, tuple[ToolId, ...]]] = []
    for row in csv.DictReader(io.StringIO(_bytes(folder / "all_clean_data.csv").decode("utf-8", "replace"))):
        name = (row.get("Tool") or "").casefold()
        asked = (row.get("Query") or "").strip()
        if name in documents and asked and taken.get(name, 0) < _OF_A_PLUGIN:
            taken[name] = taken.get(name, 0) + 1
            requests.append((asked, (documents[name].id,)))
    return Foreign(tuple(documents.values()), tuple(requests))


def _document(category: str, toolset: str, api: str, about: str, parameters: tuple[Parameter, ...] = ()) -> ToolDoc:
    return ToolDoc(
        id=tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=api,
        description=about,
        parameters=parameters,
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
