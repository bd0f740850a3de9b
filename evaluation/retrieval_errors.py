"""Requests whose first tool is wrong, with what was found and what was relevant, for a person to sort by cause."""

import random
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from domain.tool import ToolDoc, ToolId, split_tool_id
from evaluation.api_names import ApiName, get_api_name
from evaluation.queries import RetrievalQuery
from evaluation.retrieval import DEPTH, RetrievalSearch, ScoredQuery
from evaluation.retrieval_figures import find_documents
from graph.store import GraphStore
from retriever.search import ToolHit

MAX_FOUND_TOOLS = 5
"""Found tools listed for each request."""

_MAX_WORDS = 25
_MARKDOWN_MARKS = re.compile(r"([\\`*_\[\]<>#|])")


@dataclass(frozen=True, slots=True)
class FoundToolSummary:
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
    found: tuple[FoundToolSummary, ...]
    relevant: tuple[RelevantApi, ...]
    cause: str = ""
    """Empty: filled in by the person who reads the list."""

    def to_record(self) -> dict[str, object]:
        """Return the error as a JSON object, every relevant API with its ``place`` in words."""
        return {**asdict(self), "relevant": [{**asdict(one), "place": one.place} for one in self.relevant]}


def sample_wrong_first(scored: Sequence[ScoredQuery], sample: int, seed: int = 7) -> list[RetrievalQuery]:
    """Return a seeded sample of the queries whose first tool is not relevant or missing, in their order."""
    wrong = [one.query for one in scored if not one.query.relevant.intersection(one.ranking[:1])]
    chosen = random.Random(seed).sample(range(len(wrong)), min(sample, len(wrong)))
    return [wrong[place] for place in sorted(chosen)]


async def collect_errors(
    queries: Sequence[RetrievalQuery], search: RetrievalSearch, graph: GraphStore
) -> list[RetrievalError]:
    """Search each query again and describe its error in full."""
    documents = await find_documents(graph, frozenset[ApiName]().union(*(query.relevant for query in queries)))
    return [await _build_error(query, search, graph, documents) for query in queries]


async def _build_error(
    query: RetrievalQuery, search: RetrievalSearch, graph: GraphStore, documents: dict[ApiName, list[ToolId]]
) -> RetrievalError:
    hits = await search.find_tools(query.query, DEPTH)
    ranking = list(dict.fromkeys(get_api_name(hit.id) for hit in hits))
    own = {api: documents[api][0] for api in query.relevant if api in documents}
    texts = await graph.get_tools({*own.values(), *(hit.id for hit in hits[:MAX_FOUND_TOOLS])})
    found_tools = [
        FoundToolSummary(
            hit.id,
            _shorten_description(texts.get(hit.id)),
            get_api_name(hit.id) in query.relevant,
            _collect_scores(hit),
        )
        for hit in hits[:MAX_FOUND_TOOLS]
    ]
    relevant_apis: list[RelevantApi] = []
    for api in query.relevant:
        rank, tool = ranking.index(api) + 1 if api in ranking else None, own.get(api)
        relevant_apis.append(RelevantApi(*api, rank, tool, _shorten_description(texts.get(tool) if tool else None)))
    relevant_apis.sort(key=lambda one: (one.rank or DEPTH + 1, one.document is None, one.toolset, one.api))
    return RetrievalError(query.query, query.split, tuple(found_tools), tuple(relevant_apis))


def render_markdown(errors: Sequence[RetrievalError], title: str) -> str:
    """Render the errors as a page, one section each, with a line for the cause."""
    return "\n\n".join([f"# {title}", *(_render_section(place, one) for place, one in enumerate(errors, 1))]) + "\n"


def _render_section(number: int, error: RetrievalError) -> str:
    found_lines = [
        f"{n}. {'**relevant** ' if tool.relevant else ''}{_format_tool(tool.id)} "
        f"({', '.join(f'{name} {value:.3f}' for name, value in tool.scores.items())}): {_escape_markdown(tool.description)}"
        for n, tool in enumerate(error.found, 1)
    ]
    relevant_lines = [
        f"- {one.place}: {_format_tool(one.document) if one.document else _escape_markdown(f'{one.toolset} / {one.api}')}: {_escape_markdown(one.description)}"
        for one in error.relevant
    ]
    lines = [
        f"## {number}. {_escape_markdown(error.split)}",
        _escape_markdown(error.request),
        "Found:",
        "\n".join(found_lines) or "nothing",
    ]
    return "\n\n".join([*lines, "Relevant:", "\n".join(relevant_lines), "Cause:"])


def _collect_scores(hit: ToolHit) -> dict[str, float]:
    """Return every numeric field of a hit by name."""
    values = {one.name: getattr(hit, one.name) for one in fields(hit)}
    return {name: float(value) for name, value in values.items() if isinstance(value, float | int)}


def _shorten_description(document: ToolDoc | None) -> str:
    words = document.description.split() if document else []
    return " ".join(words[:_MAX_WORDS]) + (" …" if len(words) > _MAX_WORDS else "")


def _format_tool(tool: ToolId) -> str:
    return _escape_markdown(" / ".join(split_tool_id(tool)))


def _escape_markdown(text: str) -> str:
    """Put a text on one line and escape Markdown marks: documents are written by others."""
    return _MARKDOWN_MARKS.sub(r"\\\1", " ".join(text.split()))
