"""Requests whose first tool is wrong, with what was found and what was relevant, for a person to sort by cause."""

import random
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from domain.tool import ToolDoc, ToolId, tool_id_parts
from evaluation.api_keys import Key, key_of
from evaluation.queries import Query
from evaluation.retrieval import DEPTH, Scored, Search
from evaluation.retrieval_figures import documents_of
from graph.store import GraphStore
from retriever.search import ToolHit

SHOWN = 5
"""Found tools listed for each request."""

_WORDS = 25
_MARKS = re.compile(r"([\\`*_\[\]<>#|])")


@dataclass(frozen=True, slots=True)
class FoundTool:
    """A found tool with the first words of its description."""

    id: ToolId
    description: str
    relevant: bool
    scores: dict[str, float]
    """Scores by the names that the search gives them."""


@dataclass(frozen=True, slots=True)
class RelevantApi:
    """A relevant API and the rank that the search gave it."""

    toolset: str
    api: str
    rank: int | None
    """Rank from 1 among the first ``DEPTH`` found; None: not among them."""
    document: ToolId | None
    """Id of one of the API's documents; None: the store has none, so it cannot be found."""
    description: str

    @property
    def place(self) -> str:
        """The rank in words, or why there is none."""
        if self.document is None:
            return "no document"
        return f"place {self.rank}" if self.rank else f"not among the first {DEPTH}"


@dataclass(frozen=True, slots=True)
class RetrievalError:
    """A request whose first tool is wrong."""

    request: str
    split: str
    found: tuple[FoundTool, ...]
    relevant: tuple[RelevantApi, ...]
    cause: str = ""
    """Empty: filled in by the person who reads the list."""

    def record(self) -> dict[str, object]:
        """Return the error as a JSON object, every relevant API with its ``place`` in words."""
        return {**asdict(self), "relevant": [{**asdict(one), "place": one.place} for one in self.relevant]}


def wrong_first(scored: Sequence[Scored], sample: int, seed: int = 7) -> list[Query]:
    """Return a seeded sample of the queries whose first tool is not relevant or missing, in their order."""
    wrong = [one.query for one in scored if not one.query.relevant.intersection(one.ranking[:1])]
    chosen = random.Random(seed).sample(range(len(wrong)), min(sample, len(wrong)))
    return [wrong[place] for place in sorted(chosen)]


async def errors_of(queries: Sequence[Query], search: Search, graph: GraphStore) -> list[RetrievalError]:
    """Search each query again and describe its error in full."""
    documents = await documents_of(graph, frozenset[Key]().union(*(query.relevant for query in queries)))
    return [await _error(query, search, graph, documents) for query in queries]


async def _error(query: Query, search: Search, graph: GraphStore, documents: dict[Key, list[ToolId]]) -> RetrievalError:
    hits = await search.start_tools(query.query, DEPTH)
    ranking = list(dict.fromkeys(key_of(hit.id) for hit in hits))
    own = {api: documents[api][0] for api in query.relevant if api in documents}
    texts = await graph.get_tools({*own.values(), *(hit.id for hit in hits[:SHOWN])})
    found = [
        FoundTool(hit.id, _first_words(texts.get(hit.id)), key_of(hit.id) in query.relevant, _scores(hit))
        for hit in hits[:SHOWN]
    ]
    relevant: list[RelevantApi] = []
    for api in query.relevant:
        rank, tool = ranking.index(api) + 1 if api in ranking else None, own.get(api)
        relevant.append(RelevantApi(*api, rank, tool, _first_words(texts.get(tool) if tool else None)))
    relevant.sort(key=lambda one: (one.rank or DEPTH + 1, one.document is None, one.toolset, one.api))
    return RetrievalError(query.query, query.split, tuple(found), tuple(relevant))


def markdown(errors: Sequence[RetrievalError], title: str) -> str:
    """Render the errors as a page, one section each, with a line for the cause."""
    return "\n\n".join([f"# {title}", *(_section(place, one) for place, one in enumerate(errors, 1))]) + "\n"


def _section(place: int, error: RetrievalError) -> str:
    found = [
        f"{n}. {'**relevant** ' if tool.relevant else ''}{_named(tool.id)} "
        f"({', '.join(f'{name} {value:.3f}' for name, value in tool.scores.items())}): {_plain(tool.description)}"
        for n, tool in enumerate(error.found, 1)
    ]
    relevant = [
        f"- {one.place}: {_named(one.document) if one.document else _plain(f'{one.toolset} / {one.api}')}: {_plain(one.description)}"
        for one in error.relevant
    ]
    lines = [f"## {place}. {_plain(error.split)}", _plain(error.request), "Found:", "\n".join(found) or "nothing"]
    return "\n\n".join([*lines, "Relevant:", "\n".join(relevant), "Cause:"])


def _scores(hit: ToolHit) -> dict[str, float]:
    """Return every numeric field of a hit by name."""
    told = {one.name: getattr(hit, one.name) for one in fields(hit)}
    return {name: float(value) for name, value in told.items() if isinstance(value, float | int)}


def _first_words(document: ToolDoc | None) -> str:
    words = document.description.split() if document else []
    return " ".join(words[:_WORDS]) + (" …" if len(words) > _WORDS else "")


def _named(tool: ToolId) -> str:
    return _plain(" / ".join(tool_id_parts(tool)))


def _plain(text: str) -> str:
    """Put a text on one line and escape Markdown marks: documents are written by others."""
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
