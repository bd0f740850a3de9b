"""The tools that a request calls for, before any walking: what the retriever finds, and what makes those tools fillable."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field

from agent.arguments import fillable
from agent.evidence import Evidence
from agent.support import plain
from domain.tool import Parameter, ToolDoc, ToolId, is_unresolved

WANTED = 3
"""Per clause, of how many of the most relevant tools the missing inputs are looked for."""

_PRODUCERS = 6
_FOUND = 8
_QUERIES = 6
_STEPS_BACK = 2
_KEPT = 3


@dataclass(frozen=True, slots=True)
class Without:
    """``tools`` have failed for good; ``sources`` tells what else can fill some parameters of a tool."""

    tools: frozenset[ToolId]
    sources: Callable[[ToolId, Collection[str]], Awaitable[list[ToolId]]]


@dataclass(slots=True)
class Pool:
    """``found``: the retriever's score of each tool it found. ``producers``: tools whose output such a tool needs, each
    with the relevance of what it makes possible times how often (or how well) it leads there.
    """

    found: dict[ToolId, float] = field(default_factory=dict[ToolId, float])
    producers: dict[ToolId, float] = field(default_factory=dict[ToolId, float])

    def best_relevance(self, evidence: Evidence, banned: tuple[ToolId, ...]) -> tuple[float, ...]:
        """Per clause, the highest relevance of any tool found that is not banned."""
        left = [evidence.relevance(tool) for tool in self.found if tool not in banned]
        return tuple(max((r[i] for r in left), default=0.0) for i in range(len(evidence.clauses)))


async def gather(request: str, evidence: Evidence, *, limit: int, floor: float, without: Without | None = None) -> Pool:
    """Ask the retriever for the request and each of its clauses, then look for producers, two steps back at most.

    ``limit``: tools a text. Tools below ``floor`` for every clause are kept as found, but nothing is sought for them. ``without``: tools
    have failed; what stands in their place is found by what feeds the same parameters.
    """
    pool = Pool()
    for text in dict.fromkeys((request, *evidence.clauses, *map(plain, evidence.clauses))):
        for hit in await evidence.find(text, limit):
            pool.found[hit.id] = max(hit.score, pool.found.get(hit.id, 0.0))
    await evidence.read(pool.found)
    lost = without.tools if without else frozenset[ToolId]()
    pool.found = {tool: score for tool, score in pool.found.items() if evidence.has(tool) and tool not in lost}
    wanted, queries = _wanted(pool, evidence, floor), _QUERIES
    for _ in range(_STEPS_BACK):
        added: dict[ToolId, float] = {}
        for tool, worth in wanted.items():
            missing = fillable(evidence.doc(tool), request, ()).missing
            if missing:
                seek = queries > 0 and not _served(tool, request, pool, evidence)
                queries -= seek
                _raise_to(added, await _producers(tool, worth, missing, request, pool, evidence, seek, without))
        wanted = {tool: worth for tool, worth in added.items() if tool not in pool.producers}
        _raise_to(pool.producers, added)
    return pool


def _raise_to(worths: dict[ToolId, float], more: dict[ToolId, float]) -> None:
    for tool, worth in more.items():
        worths[tool] = max(worth, worths.get(tool, 0.0))


def _wanted(pool: Pool, evidence: Evidence, floor: float) -> dict[ToolId, float]:
    """The most relevant tools of each clause, with their relevance to it."""
    wanted: dict[ToolId, float] = {}
    for i in range(len(evidence.clauses)):
        ranked = sorted(pool.found, key=lambda tool: (-evidence.relevance(tool)[i], tool))
        for tool in ranked[:WANTED]:
            if evidence.relevance(tool)[i] >= floor:
                wanted[tool] = max(evidence.relevance(tool)[i], wanted.get(tool, 0.0))
    return wanted


def _served(tool: ToolId, request: str, pool: Pool, evidence: Evidence) -> bool:
    """Whether some tool that was found, and can itself be called at once, gives all that a tool lacks."""
    doc = evidence.doc(tool)
    return any(
        not fillable(evidence.doc(other), request, ()).missing
        and not fillable(doc, request, (evidence.doc(other),)).missing
        for other in pool.found
        if other != tool
    )


async def _producers(
    tool: ToolId,
    worth: float,
    missing: tuple[str, ...],
    request: str,
    pool: Pool,
    evidence: Evidence,
    seek: bool,
    without: Without | None,
) -> dict[ToolId, float]:
    """Tools that fill something a tool lacks, the three best: those that came before it in past calls count by their share,
    those that were found for the request, or (``seek``) are found for what is missing, by a little. Where tools have failed, all that can
    feed it is looked at, and more are kept: the best by far may be among the failed.
    """
    doc = evidence.doc(tool)
    offers = dict(await evidence.predecessors(tool, _PRODUCERS))
    found = [*pool.found]
    if seek:
        for parameter in doc.required:
            if parameter.name in missing:
                found += [hit.id for hit in await evidence.find(_question(doc, parameter), _FOUND)]
    lost = without.tools if without else frozenset[ToolId]()
    if without:
        found += await without.sources(tool, missing)
    ids = [o for o in dict.fromkeys((*offers, *found)) if o != tool and o not in lost and not is_unresolved(o)]
    await evidence.read(ids)
    fitting = {
        other: worth * (0.5 + 0.5 * offers.get(other, 0.0))
        for other in ids
        if evidence.has(other) and len(fillable(doc, request, (evidence.doc(other),)).missing) < len(missing)
    }
    ranked = sorted(fitting, key=lambda t: (-fitting[t], -max(evidence.relevance(t)), t))
    return {other: fitting[other] for other in ranked[: 2 * _KEPT if without else _KEPT]}


def _question(doc: ToolDoc, parameter: Parameter) -> str:
    """What to ask the retriever for a tool that knows a parameter."""
    return f"search {doc.category} {parameter.name.replace('_', ' ')} {parameter.description[:120]}"
