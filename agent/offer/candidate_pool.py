"""Pool of candidate tools before any search: the retriever's hits, and the tools that supply their inputs."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from agent.offer.candidates import Origin
from agent.offer.tool_evidence import ToolEvidence
from agent.search.dfs import SearchSettings
from agent.search.state import Path, SearchState
from domain.tool import Parameter, ToolDoc, ToolId, is_unresolved

TARGETS_PER_CLAUSE = 3
"""Most relevant tools per clause for whose missing inputs producers are sought."""

_MAX_PREDECESSORS = 6
"""Tools most often called before a tool that are considered as its producers."""
_HITS_PER_QUERY = 8
_MAX_QUERIES = 6
"""Tools for whose missing inputs the retriever is asked."""
_STEPS_BACK = 2
"""Calls in a row that may lead to a tool: its producers, and theirs."""
_MAX_PRODUCERS = 3
"""Producers kept of one tool."""


@dataclass(frozen=True, slots=True)
class FailedTools:
    """Tools that have failed for good, and how to replace them."""

    tools: frozenset[ToolId]
    """Ids of the failed tools."""
    sources: Callable[[ToolId, Collection[str]], Awaitable[list[ToolId]]]
    """Returns the tools that can fill some of a tool's parameters."""


@dataclass(slots=True)
class CandidatePool:
    """Candidate tools of one request."""

    found: dict[ToolId, float] = field(default_factory=dict[ToolId, float])
    """Retriever's score of each tool found, and the relevance of each other tool of the request's offer."""
    producers: dict[ToolId, float] = field(default_factory=dict[ToolId, float])
    """Tools whose output another candidate needs, with their worth.

    The worth is the relevance of what the tool makes possible, times how often (or how well) it leads there.
    """
    offered: tuple[ToolId, ...] = ()
    """Tools of the request's offer, best first."""

    def find_best_relevance(self, evidence: ToolEvidence, banned: tuple[ToolId, ...]) -> tuple[float, ...]:
        """Return, per clause, the highest relevance of any tool found that is not banned."""
        relevances = [evidence.relevance(tool) for tool in self.found if tool not in banned]
        return tuple(max((relevance[i] for relevance in relevances), default=0.0) for i in range(len(evidence.clauses)))


async def build_candidate_pool(
    request: str,
    evidence: ToolEvidence,
    *,
    limit: int,
    floor: float,
    offered: Sequence[ToolId] = (),
    without: FailedTools | None = None,
) -> CandidatePool:
    """Build the pool of a request: its offer, the retriever's hits, and producers at most two steps back.

    Args:
        request: the request.
        evidence: facts about tools.
        limit: tools that the retriever returns per text.
        floor: relevance below which, for every clause, a tool stays in the pool but nothing is sought for it.
        offered: tools of the request's offer.
        without: tools that have failed; replacements are found by what fills the same parameters.
    """
    failed = without.tools if without else frozenset[ToolId]()
    pool = await retrieve_candidates(request, evidence, limit=limit, failed=failed, offered=offered)
    pool.found |= {tool: max(evidence.relevance(tool)) for tool in pool.offered if tool not in pool.found}
    targets, queries = _select_targets(pool, evidence, floor), _MAX_QUERIES
    for _ in range(_STEPS_BACK):
        lacking = {
            tool: missing
            for tool in targets
            if (missing := evidence.reader.check_inputs(evidence.doc(tool), request, ()).missing)
        }
        unserved = [tool for tool in lacking if not _is_supplied(tool, request, pool, evidence)][:queries]
        queries -= len(unserved)
        questions = {tool: _build_queries(evidence.doc(tool), lacking[tool]) for tool in unserved}
        await evidence.look_up(chain.from_iterable(questions.values()), _HITS_PER_QUERY)
        possible = {
            tool: await _find_possible_sources(tool, missing, questions.get(tool, []), pool, evidence, without)
            for tool, missing in lacking.items()
        }
        await evidence.read(chain.from_iterable(possible.values()))
        added: dict[ToolId, float] = {}
        for tool, ids in possible.items():
            _merge_maxima(
                added, await _select_producers(tool, targets[tool], lacking[tool], request, ids, evidence, without)
            )
        targets = {tool: worth for tool, worth in added.items() if tool not in pool.producers}
        _merge_maxima(pool.producers, added)
    return pool


async def retrieve_candidates(
    request: str,
    evidence: ToolEvidence,
    *,
    limit: int,
    failed: Collection[ToolId] = (),
    offered: Sequence[ToolId] = (),
) -> CandidatePool:
    """Return a pool of the retriever's hits for the request and each of its clauses, and of the ``offered`` tools.

    Tools in ``failed`` are left out.
    """
    pool = CandidatePool()
    texts = list(dict.fromkeys((request, *evidence.clauses, *map(evidence.reader.normalize_part, evidence.clauses))))
    await evidence.look_up(texts, limit)
    for text in texts:
        for hit in await evidence.find(text, limit):
            pool.found[hit.id] = max(hit.score, pool.found.get(hit.id, 0.0))
    await evidence.read([*pool.found, *offered])
    pool.offered = tuple(tool for tool in offered if evidence.has(tool) and tool not in failed)
    pool.found = {tool: score for tool, score in pool.found.items() if evidence.has(tool) and tool not in failed}
    return pool


def _merge_maxima(maxima: dict[ToolId, float], more: dict[ToolId, float]) -> None:
    """Merge worths, keeping the higher one of each tool."""
    for tool, worth in more.items():
        maxima[tool] = max(worth, maxima.get(tool, 0.0))


def _select_targets(pool: CandidatePool, evidence: ToolEvidence, floor: float) -> dict[ToolId, float]:
    """Return the most relevant tools of each clause, with their relevance to it."""
    targets: dict[ToolId, float] = {}
    for i in range(len(evidence.clauses)):
        ranked = sorted(pool.found, key=lambda tool: (-evidence.relevance(tool)[i], tool))
        for tool in ranked[:TARGETS_PER_CLAUSE]:
            if evidence.relevance(tool)[i] >= floor:
                targets[tool] = max(evidence.relevance(tool)[i], targets.get(tool, 0.0))
    return targets


def _is_supplied(tool: ToolId, request: str, pool: CandidatePool, evidence: ToolEvidence) -> bool:
    """Return whether some tool found, which can itself be called at once, gives all that a tool lacks."""
    doc = evidence.doc(tool)
    return any(
        not evidence.reader.check_inputs(evidence.doc(other), request, ()).missing
        and not evidence.reader.check_inputs(doc, request, (evidence.doc(other),)).missing
        for other in pool.found
        if other != tool
    )


async def _find_possible_sources(
    tool: ToolId,
    missing: tuple[str, ...],
    questions: Sequence[str],
    pool: CandidatePool,
    evidence: ToolEvidence,
    without: FailedTools | None,
) -> list[ToolId]:
    """Return the tools that may fill something a tool lacks.

    They are its predecessors in past calls, the tools found for the request, and those found for the ``questions``
    about the missing inputs. If tools have failed, everything that can feed it is included.
    """
    sources = [*pool.found]
    for question in questions:
        sources += [hit.id for hit in await evidence.find(question, _HITS_PER_QUERY)]
    if without:
        sources += await without.sources(tool, missing)
    failed = without.tools if without else frozenset[ToolId]()
    predecessors = [other for other, _ in await evidence.find_predecessors(tool, _MAX_PREDECESSORS)]
    return [
        source
        for source in dict.fromkeys((*predecessors, *sources))
        if source != tool and source not in failed and not is_unresolved(source)
    ]


async def _select_producers(
    tool: ToolId,
    worth: float,
    missing: tuple[str, ...],
    request: str,
    possible: Sequence[ToolId],
    evidence: ToolEvidence,
    without: FailedTools | None,
) -> dict[ToolId, float]:
    """Return the three best tools that fill something a tool lacks, with their worth.

    Predecessors in past calls count by their share, others by a little. If tools have failed, twice as many are kept,
    because the best by far may be among the failed.
    """
    doc, predecessor_shares = evidence.doc(tool), dict(await evidence.find_predecessors(tool, _MAX_PREDECESSORS))
    fitting = {
        other: worth * (0.5 + 0.5 * predecessor_shares.get(other, 0.0))
        for other in possible
        if evidence.has(other)
        and len(evidence.reader.check_inputs(doc, request, (evidence.doc(other),)).missing) < len(missing)
    }
    ranked = sorted(fitting, key=lambda t: (-fitting[t], -max(evidence.relevance(t)), t))
    return {other: fitting[other] for other in ranked[: 2 * _MAX_PRODUCERS if without else _MAX_PRODUCERS]}


def _build_queries(doc: ToolDoc, missing: tuple[str, ...]) -> list[str]:
    """Return one retriever query per missing required parameter."""
    return [_build_query(doc, parameter) for parameter in doc.required if parameter.name in missing]


def _build_query(doc: ToolDoc, parameter: Parameter) -> str:
    """Return the retriever query for a tool that provides a parameter."""
    return f"search {doc.category} {parameter.name.replace('_', ' ')} {parameter.description[:120]}"


WeightedTool = tuple[ToolId, float, Origin]
"""A tool, its weight at this node, and its origin."""


def find_origin(tool: ToolId, pool: CandidatePool) -> Origin:
    """Return the origin of a tool in the pool: the retriever's start, or the graph."""
    return "start" if tool in pool.found else "graph"


def to_unweighted(tools: Iterable[ToolId], by: Origin) -> list[WeightedTool]:
    """Return tools that no edge leads to from here, with weight 0."""
    return [(tool, 0.0, by) for tool in tools]


def take_in_turns(queues: Iterable[list[ToolId]], limit: int) -> list[ToolId]:
    """Return the first ``limit`` distinct tools, taking one from each queue in turn."""
    selected: dict[ToolId, None] = {}
    rows: list[Iterator[ToolId]] = [iter(queue) for queue in queues]
    while rows and len(selected) < limit:
        for row in list(rows):
            tool = next((tool for tool in row if tool not in selected), None)
            if tool is None:
                rows.remove(row)
            elif len(selected) < limit:
                selected[tool] = None
    return list(selected)


_MAX_HELPERS = 2
"""Producers added to one node."""


class ProducerFinder:
    """Finds missing producers for one request. ``done_path``: tools of the steps that are already done."""

    def __init__(
        self, request: str, evidence: ToolEvidence, pool: CandidatePool, done_path: Path, settings: SearchSettings
    ) -> None:
        self._request = request
        self._evidence = evidence
        self._pool = pool
        self._done_path = done_path
        self._settings = settings

    def find_missing_producers(
        self, offers: Sequence[WeightedTool], state: SearchState, closed: Collection[ToolId]
    ) -> list[WeightedTool]:
        """Return a producer or two for candidates that lack inputs.

        They are sought where none of the other candidates, untried here, would give the input. ``closed``: tools that
        must not be offered.
        """
        evidence, path = self._evidence, (*self._done_path, *state.path)
        offered = [tool for tool, _, _ in offers]
        untried = [
            tool
            for tool in offered
            if not state.is_dead((*state.path, tool)) and not self._count_missing_inputs(tool, path)
        ]
        spare = [
            tool
            for tool in sorted({**self._pool.found, **self._pool.producers})
            if tool not in offered and tool not in closed and not state.is_dead((*state.path, tool))
        ]
        helpers: dict[ToolId, None] = {}
        sought = [tool for tool in offered if max(evidence.relevance(tool)) >= self._settings.min_relevance]
        sought = sought[: self._settings.candidate_count]
        for tool in sought:  # what helps may itself need help
            lacking = self._count_missing_inputs(tool, path)
            if not lacking or any(self._count_missing_inputs(tool, (*path, other)) < lacking for other in untried):
                continue
            gives = (other for other in spare if self._count_missing_inputs(tool, (*path, other)) < lacking)
            helper = max(gives, key=self._rank_producer, default=None)
            if helper is not None:
                helpers[helper] = None
                sought += [helper] * (helper not in sought and len(helpers) < _MAX_HELPERS)
        return [(tool, 0.0, "retriever") for tool in list(helpers)[:_MAX_HELPERS]]

    def _count_missing_inputs(self, tool: ToolId, path: Path) -> int:
        """Return how many inputs of a tool nothing on a path fills."""
        return len(
            self._evidence.reader.check_inputs(
                self._evidence.doc(tool), self._request, self._evidence.docs(path)
            ).missing
        )

    def _rank_producer(self, tool: ToolId) -> tuple[bool, float, float]:
        """Rank a producer: whether the request alone fills it, how well it leads on, and its own relevance."""
        worth = self._pool.producers.get(tool, 0.0) * self._evidence.rank_availability(tool)
        return not self._count_missing_inputs(tool, ()), worth, max(self._evidence.relevance(tool), default=0.0)
