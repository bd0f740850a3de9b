"""Candidates at a search node: the top-K out-neighbours, topped up from the pool."""

import logging
from functools import partial

from agent.memory.path_reuse import find_next_tool
from agent.offer.candidate_pool import (
    CandidatePool,
    FailedTools,
    ProducerFinder,
    WeightedTool,
    build_candidate_pool,
    find_origin,
    retrieve_candidates,
    take_in_turns,
    to_unweighted,
)
from agent.offer.candidates import ToolCandidate, ToolsetPrior, has_unserved_clause
from agent.offer.failing_tools import find_sources, find_stand_ins, mark_stand_ins, select_returning_tool
from agent.offer.offer_maker import OfferSource
from agent.offer.tool_evidence import ToolEvidence
from agent.offer.toolset_prior import compute_toolset_priors, select_related_tools
from agent.search.dfs import SearchNode, SearchOptions, SearchSettings
from agent.search.state import Path, SearchState
from domain.errors import FootpathError
from domain.tool import FINISH, ToolId
from graph.exploration import select_with_exploration
from graph.weights import rank_candidates

MAX_OFFERED_TOOLS = 16
"""Tools of the request's offer that a search chooses from."""

_log = logging.getLogger(__name__)
_RESERVED_PLACES = 3
"""Of the K places, those reserved for the pool if a clause is still unserved."""
_READ_FACTOR = 2
"""Neighbours that are read, in multiples of K: exploration may exchange some of the first K."""
_MAX_REMEMBERED = 3
"""Next steps of remembered paths that are added to a node."""


class NodeExpander:
    """Builds the nodes of one run's search, each once."""

    def __init__(
        self,
        request: str,
        evidence: ToolEvidence,
        settings: SearchSettings,
        done_path: Path = (),
        seed: str = "",
        offers: OfferSource | None = None,
        options: SearchOptions | None = None,
        category: str = "",
    ) -> None:
        """Prepare the nodes of one request.

        Args:
            request: the request.
            evidence: facts about tools.
            settings: parameters of the search.
            done_path: tools of steps that are already done, which precede every path.
            seed: seed of the run, by which failing tools are drawn to be tried again; empty means no exploration.
            offers: source of the request's offer.
            options: variants of the search.
            category: category of tools that the request calls for, if the decomposition named one.
        """
        self._options = options or SearchOptions()
        self._category = category
        self._offers = offers if self._options.widens_nodes else None
        self._offered: tuple[ToolId, ...] | None = None
        self._seed = seed
        self._request = request
        self._evidence = evidence
        self._settings = settings
        self._done_path = done_path
        self._pools: dict[frozenset[ToolId], CandidatePool] = {}
        self._priors: dict[ToolId, ToolsetPrior] = {}
        self._nodes: dict[tuple[Path, Path, ToolId | None], SearchNode] = {}

    async def __call__(self, state: SearchState) -> SearchNode:
        """Return the node at the end of a state's path; it is built once until more tools are banned."""
        key = (state.path, state.banned, state.instead_of)
        if key not in self._nodes:
            self._nodes[key] = await self._expand(state)
        return self._nodes[key]

    async def _expand(self, state: SearchState) -> SearchNode:
        settings = self._settings
        pool = await self._load_pool(state.banned)
        path = (*self._done_path, *state.path)
        await self._evidence.read(path)
        relevance = tuple(self._evidence.relevance(tool) for tool in path)
        best = pool.find_best_relevance(self._evidence, state.banned)
        closed = {*state.path, *state.banned, *await self._find_banned(state.path)}
        if not self._options.widens_nodes:
            offers, finish = await self._select_neighbours(state, closed, pool)
        elif state.path:
            offers, finish = await self._select_followers(state.path[-1], closed, pool, relevance, best)
            offers = await self._widen(offers, state, closed, pool)
        else:
            offers, finish = await self._widen(self._select_start(closed, pool), state, closed, pool), 0.0
        repeatable = self._find_repeatable(state)
        return SearchNode(
            path=self._evidence.docs(path),
            path_relevance=relevance,
            best_relevance=best,
            candidates=self._build_candidates(offers, repeatable, state),
            finish_weight=finish,
            value=_compute_value(relevance, best, settings.min_relevance),
            again=repeatable,
            recalled=self._evidence.recalled,
            toolset_priors=self._priors,
        )

    async def _widen(
        self, offers: list[WeightedTool], state: SearchState, closed: set[ToolId], pool: CandidatePool
    ) -> list[WeightedTool]:
        """Add candidates outside the K places.

        They are next steps of remembered paths, related tools, producers and substitutes.
        """
        offers = [*offers, *await self._find_remembered(state, {offer[0] for offer in offers} | closed)]
        near = select_related_tools(self._priors, state.path, {offer[0] for offer in offers} | closed)
        offers += to_unweighted([tool for tool in near if self._evidence.has(tool)], "retriever")
        producers = ProducerFinder(self._request, self._evidence, pool, self._done_path, self._settings)
        offers += producers.find_missing_producers(offers, state, closed)
        return await self._prepend_substitutes(offers, state)

    def _build_candidates(
        self, offers: list[WeightedTool], repeatable: Path, state: SearchState
    ) -> tuple[ToolCandidate, ...]:
        """Build the candidates with the evidence for each; the ``repeatable`` tools of the path come last."""
        path, offered = (*self._done_path, *state.path), [offer[0] for offer in offers]
        all_offers = [*offers, *to_unweighted(repeatable, "graph")]
        if not self._options.widens_nodes:
            return tuple(self._build_candidate(offer, path, returning=False) for offer in all_offers)
        returning_tool = (
            select_returning_tool(offered, self._evidence.is_failing, self._is_safe, self._seed) if self._seed else None
        )
        candidates = (self._build_candidate(offer, path, returning=offer[0] == returning_tool) for offer in all_offers)
        return mark_stand_ins(candidates, self._find_failed(offered, state), self._evidence)

    async def _load_pool(self, banned: Path) -> CandidatePool:
        """Return the request's pool, rebuilt when more has failed.

        A replacement may be a tool that is otherwise too unlikely to be in the pool.
        """
        failed = frozenset(banned)
        if failed not in self._pools and not self._options.widens_nodes:
            self._pools[failed] = await retrieve_candidates(
                self._request, self._evidence, limit=self._settings.retrieved_count, failed=failed
            )
        if failed not in self._pools:
            without = FailedTools(failed, partial(find_sources, self._evidence)) if failed else None
            settings = self._settings
            pool = await build_candidate_pool(
                self._request,
                self._evidence,
                limit=settings.retrieved_count,
                floor=settings.min_relevance,
                offered=await self._load_offer(),
                without=without,
            )
            self._priors = self._priors or await compute_toolset_priors(self._request, pool, self._evidence)
            self._pools[failed] = pool
        return self._pools[failed]

    async def _load_offer(self) -> tuple[ToolId, ...]:
        """Return the tools of the request's offer, computed once."""
        if self._offered is None:
            self._offered = await self._make_offer(self._offers) if self._offers else ()
        return self._offered

    async def _make_offer(self, offers: OfferSource) -> tuple[ToolId, ...]:
        """Return the ids of an offer; empty if it fails by a defect, since the search alone can serve the request."""
        try:
            return (await offers.offer(self._request, MAX_OFFERED_TOOLS)).ids
        except FootpathError:
            raise
        except Exception:  # noqa: BLE001  # a defect of ours must not end the run: the search alone serves it, too
            _log.exception("no offer could be made")
            return ()

    async def _find_banned(self, path: Path) -> set[ToolId]:
        """Return the tools that an administrator bans after this path.

        Neither the pool nor a memory or a tool set's prior may bring them back.
        """
        return (
            {way.target for way in await self._evidence.neighbours(path[-1]) if way.edge.mark == "ban"}
            if path
            else set()
        )

    async def _find_remembered(self, state: SearchState, excluded: set[ToolId]) -> list[WeightedTool]:
        """Return the next steps on paths of similar requests, the most similar first, outside the K places."""
        following = (find_next_tool(recalled.memory.path, state.path) for recalled in self._evidence.recalled)
        tools = [
            tool for tool in dict.fromkeys(following) if tool is not None and tool not in excluded and tool != FINISH
        ]
        await self._evidence.read(tools[:_MAX_REMEMBERED])
        return to_unweighted([tool for tool in tools[:_MAX_REMEMBERED] if self._evidence.has(tool)], "memory")

    async def _prepend_substitutes(self, offers: list[WeightedTool], state: SearchState) -> list[WeightedTool]:
        """Put the substitutes of a failed tool first, with the weight that they have here anyway."""
        tools = [tool for tool in await find_stand_ins(self._evidence, state.instead_of) if state.is_open(tool)]
        await self._evidence.read(tools)
        weights = {tool: weight for tool, weight, _ in offers}
        substitutes: list[WeightedTool] = [
            (tool, weights.get(tool, 0.0), "substitute") for tool in tools if self._evidence.has(tool)
        ]
        substituted = {offer[0] for offer in substitutes}
        return [*substitutes, *(offer for offer in offers if offer[0] not in substituted)]

    def _find_failed(self, offered: list[ToolId], state: SearchState) -> set[ToolId]:
        """Return the tools to replace: the one whose call has failed, and candidates that failed recently."""
        failing = {tool for tool in offered if self._evidence.is_failing(tool)}
        return failing | ({state.instead_of} if state.instead_of is not None else set())

    def _find_repeatable(self, state: SearchState) -> Path:
        """Return the tools of the path that the request may need again, because it asks the same of several things."""
        if self._options.repeats_tools:
            return tuple(tool for tool in dict.fromkeys(state.path) if tool not in state.banned)
        things = self._evidence.reader.count_repetitions(self._request)
        return tuple(
            tool
            for tool in dict.fromkeys(state.path)
            if tool not in state.banned and state.path.count(tool) < things and self._evidence.doc(tool).required
        )

    def _select_start(self, closed: set[ToolId], pool: CandidatePool) -> list[WeightedTool]:
        """Return the first node's tools, in turns from the best for the request, for each clause, and producers."""
        weights = {**pool.producers, **pool.found}
        tools = take_in_turns(self._build_queues(closed, pool, floor=0.0), self._settings.candidate_count)
        offers: list[WeightedTool] = [(tool, min(1.0, weights[tool]), find_origin(tool, pool)) for tool in tools]
        return sorted(offers, key=lambda offer: (-offer[1] * self._evidence.rank_availability(offer[0]), offer[0]))

    async def _select_neighbours(
        self, state: SearchState, closed: set[ToolId], pool: CandidatePool
    ) -> tuple[list[WeightedTool], float]:
        """Return the tools of a node as in the thesis (4.3.2.1), and its weight to ``Finish``.

        They are the K heaviest edges, topped up by the retriever. At the start only the retriever is used. Tools of
        the request's category take turns with the others that were found.
        """
        k, floor = self._settings.candidate_count, self._settings.min_relevance if state.path else 0.0
        weighted = await self._evidence.neighbours(state.path[-1]) if state.path else []
        finish = next((way.weight for way in weighted if way.target == FINISH), 0.0)
        near = rank_candidates(way for way in weighted if way.target not in closed)
        heaviest = sorted(near, key=lambda w: (w.edge.mark != "pin", -w.weight, w.target))[:k]
        await self._evidence.read(way.target for way in heaviest)
        edges: list[WeightedTool] = [(way.target, way.weight, "graph") for way in heaviest]
        excluded = closed | {offer[0] for offer in edges}
        found_tools = [
            tool for tool in pool.found if tool not in excluded and max(self._evidence.relevance(tool)) >= floor
        ]
        found_tools.sort(key=lambda tool: (-pool.found[tool], tool))
        fitting = [
            tool for tool in found_tools if self._category and self._evidence.doc(tool).category == self._category
        ]
        filled = take_in_turns([found_tools, fitting], k - len(edges))
        if state.path:
            return [*edges, *to_unweighted(filled, "retriever")], finish
        starts: list[WeightedTool] = [(tool, min(1.0, pool.found[tool]), "start") for tool in filled]
        return sorted(starts, key=lambda offer: (-offer[1], offer[0])), finish

    async def _select_followers(
        self,
        last: ToolId,
        closed: set[ToolId],
        pool: CandidatePool,
        relevance: tuple[tuple[float, ...], ...],
        best: tuple[float, ...],
    ) -> tuple[list[WeightedTool], float]:
        """Return a later node's tools and its weight to ``Finish``.

        They are its neighbours by weight times availability, then tools of the pool.

        If neighbours fill all K places and none of them serves a clause that is still open, the last few places are
        reserved for the pool. Otherwise a request of two unrelated parts could never leave a well-trodden corner of
        the graph.
        """
        k = self._settings.candidate_count
        weighted = await self._evidence.neighbours(last)
        finish = next((way.weight for way in weighted if way.target == FINISH), 0.0)
        near = [way for way in weighted if way.target not in closed]
        await self._evidence.read(way.target for way in rank_candidates(near)[: _READ_FACTOR * k])
        ranked = (
            select_with_exploration(near, k, self._is_safe, seed=self._seed)
            if self._seed
            else rank_candidates(near)[:k]
        )
        shown_relevance = [self._evidence.relevance(way.target) for way in ranked]
        reserved = (
            _RESERVED_PLACES
            if has_unserved_clause(relevance, shown_relevance, best, self._settings.min_relevance)
            else 0
        )
        graph: list[WeightedTool] = [(way.target, way.weight, "graph") for way in ranked[: k - min(reserved, k - 1)]]
        excluded = closed | {offer[0] for offer in graph}
        filled = take_in_turns(self._build_queues(excluded, pool, self._settings.min_relevance), k - len(graph))
        return [*graph, *((tool, 0.0, "retriever") for tool in filled)], finish

    def _build_queues(self, closed: set[ToolId], pool: CandidatePool, floor: float) -> list[list[ToolId]]:
        """Return the pool ranked by relevance to each clause, by the offer, by the producers' worth, and as found."""
        relevance = self._evidence.relevance
        found_tools = [tool for tool in pool.found if tool not in closed and max(relevance(tool)) >= floor]
        clauses = range(len(self._evidence.clauses))
        by_clause = [sorted(found_tools, key=lambda t, i=i: (-relevance(t)[i], t)) for i in clauses]
        as_found = sorted(found_tools, key=lambda t: (-pool.found[t] * self._evidence.rank_availability(t), t))
        producers = sorted(
            (tool for tool in pool.producers if tool not in closed),
            key=lambda t: (-pool.producers[t] * self._evidence.rank_availability(t), t),
        )
        offered = [tool for tool in pool.offered if tool not in closed]
        return [*by_clause, offered, producers, as_found]

    def _build_candidate(self, offer: WeightedTool, path: Path, *, returning: bool) -> ToolCandidate:
        """Return one candidate with the evidence for it."""
        tool, weight, origin = offer
        doc = self._evidence.doc(tool)
        fill = self._evidence.reader.check_inputs(doc, self._request, self._evidence.docs(path))
        return ToolCandidate(
            tool=doc,
            weight=weight,
            availability=self._evidence.availability(tool),
            relevance=self._evidence.relevance(tool),
            origin=origin,
            missing=fill.missing,
            feeds=fill.feeds,
            returning=returning,
        )

    def _is_safe(self, tool: ToolId) -> bool:
        """Return whether a tool that was read is safe to call."""
        return self._evidence.has(tool) and self._evidence.doc(tool).safe


def _compute_value(relevance: tuple[tuple[float, ...], ...], best: tuple[float, ...], floor: float) -> float:
    """Return how much of the request a path serves.

    That is the sum over clauses of its best relevance as a share of the best there is.
    """
    return sum(
        max((values[i] for values in relevance), default=0.0) / top
        for i, top in enumerate(best)
        if top >= max(floor, 1e-9)
    )
