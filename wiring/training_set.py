"""Training set of a retriever, from tool documents, trajectories and other catalogues."""

import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.errors import BrokenInputError, UsageError
from domain.tool import Parameter, ToolDoc, ToolId, make_tool_id
from domain.trajectory import Trajectory
from evaluation.api_names import ApiName, get_api_name
from evaluation.corpora.corpus import read_parsed_lines
from evaluation.queries import RetrievalQuery
from evaluation.tuning import classify_split, collect_labelled_queries
from graph.function_names import NameIndex
from graph.importers.records import (
    Record,
    RecordError,
    ensure_list,
    ensure_object,
    get_optional_text,
    load,
    require_text,
)
from retriever.training.examples import DocumentCorpus, TrainingExample, build_corpus

_MAX_PER_PLUGIN = 3
"""Requests that are taken for each plugin: MetaTool has thousands for some, and one for others."""


@dataclass(frozen=True, slots=True)
class ForeignCatalogue:
    """Another catalogue: its documents, and requests with the tools that solve them."""

    documents: tuple[ToolDoc, ...]
    requests: tuple[tuple[str, tuple[ToolId, ...]], ...]


def build_training_set(
    documents: Sequence[ToolDoc],
    trajectories: Iterable[Trajectory],
    measured: Sequence[RetrievalQuery],
    foreign: Sequence[ForeignCatalogue] = (),
    max_foreign: int = 300,
    max_by_source: Mapping[str, int] | None = None,
) -> tuple[DocumentCorpus, list[TrainingExample]]:
    """Return all documents, and an example for each request whose trajectory ends in an answer.

    Requests near a measured one are left out. ``max_foreign``: largest number of requests of other catalogues, chosen by
    chance. ``max_by_source``: for a source of trajectories that is unlike the requests to be served, the largest number of its
    requests, none of which are used to judge.
    """
    names, trajectory_list = NameIndex(documents), list(trajectories)
    capped_sources = dict(max_by_source or {})
    labelled_queries = collect_labelled_queries(
        (one for one in trajectory_list if one.source not in capped_sources), names, measured
    )
    corpus = build_corpus([*documents, *(document for one in foreign for document in one.documents)])
    rows: dict[ApiName, int] = {}
    for document in sorted(documents, key=lambda one: one.id):
        rows.setdefault(get_api_name(document.id), corpus.row_by_id[document.id])
    examples = _build_examples(labelled_queries, rows, foreign=False)
    for source, count in capped_sources.items():
        of_source = (one for one in trajectory_list if one.source == source)
        examples += _build_examples(collect_labelled_queries(of_source, names, measured), rows, foreign=True)[:count]
    foreign_requests = [pair for one in foreign for pair in one.requests]
    foreign_requests = random.Random(7).sample(foreign_requests, min(max_foreign, len(foreign_requests)))
    examples += [
        TrainingExample(request, tuple(corpus.row_by_id[tool] for tool in tools), out_of_domain=True)
        for request, tools in foreign_requests
    ]
    return corpus, examples


def to_queries(corpus: DocumentCorpus, examples: Sequence[TrainingExample]) -> list[RetrievalQuery]:
    """Return examples as labelled requests."""
    queries: list[RetrievalQuery] = []
    for example in examples:
        relevant = frozenset(get_api_name(corpus.ids[row]) for row in example.positive_rows)
        queries.append(RetrievalQuery(classify_split(relevant), example.request, relevant))
    return queries


def _build_examples(
    queries: Sequence[RetrievalQuery], rows: Mapping[ApiName, int], *, foreign: bool
) -> list[TrainingExample]:
    return [
        TrainingExample(query.query, solved, foreign)
        for query in queries
        if (solved := tuple(sorted(rows[key] for key in query.relevant if key in rows)))
    ]


def read_seal_tools(folder: Path) -> ForeignCatalogue:
    """Read the catalogue Seal-Tools: ``tool.jsonl`` and ``dev.jsonl``.

    ``UsageError`` where they are missing, ``BrokenInputError`` for a line.
    """
    documents = {entry.api: entry for entry in read_parsed_lines(folder / "tool.jsonl", _parse_seal_tool)}

    def parse_request(record: Record) -> tuple[str, tuple[ToolId, ...]]:
        calls = [
            ensure_object(item, "an item of 'calling'") for item in ensure_list(record.get("calling"), "'calling'")
        ]
        tools = dict.fromkeys(documents[name].id for call in calls if (name := require_text(call, "api")) in documents)
        return require_text(record, "query"), tuple(tools)

    requests = [entry for entry in read_parsed_lines(folder / "dev.jsonl", parse_request) if entry[1]]
    return ForeignCatalogue(tuple(documents.values()), tuple(requests))


def _parse_seal_tool(record: Record) -> ToolDoc:
    name, field = require_text(record, "api_name"), (get_optional_text(record, "field") or "other").split("/")
    inputs = [
        Parameter(name=name_in_schema)
        for name_in_schema in ensure_object(record.get("parameters") or {}, "'parameters'")
    ]
    return _build_document(
        f"seal {field[0]}", field[-1], name, get_optional_text(record, "api_description") or "", tuple(inputs)
    )


def read_metatool(folder: Path) -> ForeignCatalogue:
    """Read the catalogue MetaTool: ``plugin_des.json``, and a few requests of each tool of ``all_clean_data.csv``.

    Raises as :func:`read_seal_tools`.
    """
    plugins = folder / "plugin_des.json"
    try:
        descriptions = ensure_object(load(_read_bytes(plugins)), "the file")
    except RecordError as error:
        raise BrokenInputError(str(error), file=str(plugins)) from error
    documents = {
        name.casefold(): _build_document("plugins", name, name, str(about)) for name, about in descriptions.items()
    }
    counts: dict[str, int] = {}
    requests: list[tuple[str, tuple[ToolId, ...]]] = []
    for row in csv.DictReader(io.StringIO(_read_bytes(folder / "all_clean_data.csv").decode("utf-8", "replace"))):
        name = (row.get("Tool") or "").casefold()
        query = (row.get("Query") or "").strip()
        if name in documents and query and counts.get(name, 0) < _MAX_PER_PLUGIN:
            counts[name] = counts.get(name, 0) + 1
            requests.append((query, (documents[name].id,)))
    return ForeignCatalogue(tuple(documents.values()), tuple(requests))


def _build_document(
    category: str, toolset: str, api: str, about: str, parameters: tuple[Parameter, ...] = ()
) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id(category, toolset, api),
        category=category,
        toolset=toolset,
        api=api,
        function=api,
        description=about,
        parameters=parameters,
    )


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
