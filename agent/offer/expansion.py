"""Candidates at a search node: the top-K out-neighbours, topped up from the pool (DESIGN section 4)."""

import logging
from functools import partial

from agent.memory.path_reuse import next_of
from agent.offer.candidate_pool import (
    Offer,
    Pool,
    Producers,
    Without,
    found_for,
    gather,
    in_turns,
    origin,
    unweighted,
)
from agent.offer.candidates import Candidate, Kin, unserved
from agent.offer.exploration import returning
from agent.offer.maker import Offers
from agent.offer.standing_in import standing_in
from agent.offer.substitution import sources, stand_ins
from agent.offer.tool_facts import Evidence
from agent.offer.toolset_prior import kinship, relatives
from agent.search.dfs import Node
from agent.search.settings import SearchOptions, WalkSettings
from agent.search.state import Frontier, Path
from domain.errors import FootpathError
from domain.tool import FINISH, ToolId
from graph.exploration import with_exploration
from graph.weights import rank

OFFERED = 16
"""Tools of the request's offer that a search chooses from."""

_log = logging.getLogger(__name__)
_KEPT_FREE = 3
_LOOKED_AT = 2
_REMEMBERED = 3


class Expander:
    """Builder of the nodes of one run's search. ``seed``: the run's; it draws which failing tools are tried again."""

    def __init__(
        self,
        request: str,
        evidence: Evidence,
        settings: WalkSettings,
        given: Path = (),
        seed: str = "",
        offers: Offers | None = None,
        options: SearchOptions | None = None,
        category: str = "",
    ) -> None:
        """Prepare the nodes of one request.

        Args:
            request: the request.
            evidence: facts about tools.
            settings: parameters of the search.
            given: tools of steps that are already done, which precede every path.
            seed: seed of the run; empty means no exploration.
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
        self._given = given
        self._pools: dict[frozenset[ToolId], Pool] = {}
        self._kin: dict[ToolId, Kin] = {}
        self._nodes: dict[tuple[Path, Path, ToolId | None], Node] = {}

    async def __call__(self, state: Frontier) -> Node:
        """Return the node at the end of a state's path; it is built once until more tools are banned."""
        key = (state.path, state.banned, state.instead_of)
        if key not in self._nodes:
            self._nodes[key] = await self._expand(state)
        return self._nodes[key]

    async def _expand(self, state: Frontier) -> Node:
        chosen = self._settings
        pool = await self._gathered(state.banned)
        path = (*self._given, *state.path)
        await self._evidence.read(path)
        relevance = tuple(self._evidence.relevance(tool) for tool in path)
        best = pool.best_relevance(self._evidence, state.banned)
        closed = {*state.path, *state.banned, *await self._barred(state.path)}
        if not self._options.widens_nodes:
            offers, finish = await self._neighbours(state, closed, pool)
        elif state.path:
            offers, finish = await self._after(state.path[-1], closed, pool, relevance, best)
            offers = await self._widened(offers, state, closed, pool)
        else:
            offers, finish = await self._widened(self._start(closed, pool), state, closed, pool), 0.0
        again = self._again(state)
        return Node(
            path=self._evidence.docs(path),
            path_relevance=relevance,
            best_relevance=best,
            candidates=self._candidates(offers, again, state),
            finish_weight=finish,
            value=_value(relevance, best, chosen.floor),
            again=again,
            recalled=self._evidence.recalled,
            kin=self._kin,
        )

    async def _widened(self, offers: list[Offer], state: Frontier, closed: set[ToolId], pool: Pool) -> list[Offer]:
        """Add candidates outside the K places.

        They are next steps of remembered paths, related tools, producers and substitutes.
        """
        offers = [*offers, *await self._remembered(state, {offer[0] for offer in offers} | closed)]
        near = relatives(self._kin, state.path, {offer[0] for offer in offers} | closed)
        offers += unweighted([tool for tool in near if self._evidence.has(tool)], "retriever")
        producers = Producers(self._request, self._evidence, pool, self._given, self._settings)
        offers += producers.beside(offers, state, closed)
        return await self._instead(offers, state)

    def _candidates(self, offers: list[Offer], again: Path, state: Frontier) -> tuple[Candidate, ...]:
        """Return the candidates, followed by the tools that may be called ``again``, with the evidence for each."""
        path, offered = (*self._given, *state.path), [offer[0] for offer in offers]
        all_offers = [*offers, *unweighted(again, "graph")]
        if not self._options.widens_nodes:
            return tuple(self._candidate(offer, path, returning=False) for offer in all_offers)
        back = returning(offered, self._evidence.failing, self._safe, self._seed) if self._seed else None
        candidates = (self._candidate(offer, path, returning=offer[0] == back) for offer in all_offers)
        return standing_in(candidates, self._failed(offered, state), self._evidence)

    async def _gathered(self, banned: Path) -> Pool:
        """Return the request's pool, rebuilt when more has failed.

        A replacement may be a tool that is otherwise too unlikely to be in the pool.
        """
        lost = frozenset(banned)
        if lost not in self._pools and not self._options.widens_nodes:
            self._pools[lost] = await found_for(self._request, self._evidence, limit=self._settings.found, lost=lost)
        if lost not in self._pools:
            without = Without(lost, partial(sources, self._evidence)) if lost else None
            chosen = self._settings
            pool = await gather(
                self._request,
                self._evidence,
                limit=chosen.found,
                floor=chosen.floor,
                offered=await self._offer(),
                without=without,
            )
            self._kin = self._kin or await kinship(self._request, pool, self._evidence)
            self._pools[lost] = pool
        return self._pools[lost]

    async def _offer(self) -> tuple[ToolId, ...]:
        """Return the tools of the request's offer, computed once."""
        if self._offered is None:
            self._offered = await self._made(self._offers) if self._offers else ()
        return self._offered

    async def _made(self, offers: Offers) -> tuple[ToolId, ...]:
        """Return the ids of an offer; empty if it fails by a defect, since the search alone can serve the request."""
        try:
            return (await offers.offer(self._request, OFFERED)).ids
        except FootpathError:
            raise
        except Exception:  # noqa: BLE001  # a defect of ours must not end the run: the search alone serves it, too
            _log.exception("no offer could be made")
            return ()

    async def _barred(self, path: Path) -> set[ToolId]:
        """Return the tools that an administrator bans after this path.

        Neither the pool nor a memory or a tool set's prior may bring them back.
        """
        return {w.target for w in await self._evidence.neighbours(path[-1]) if w.edge.mark == "ban"} if path else set()

    async def _remembered(self, state: Frontier, known: set[ToolId]) -> list[Offer]:
        """Return the next steps on paths of similar requests, the most similar first, outside the K places."""
        following = (next_of(one.memory.path, state.path) for one in self._evidence.recalled)
        tools = [tool for tool in dict.fromkeys(following) if tool is not None and tool not in known and tool != FINISH]
        await self._evidence.read(tools[:_REMEMBERED])
        return unweighted([tool for tool in tools[:_REMEMBERED] if self._evidence.has(tool)], "memory")

    async def _instead(self, offers: list[Offer], state: Frontier) -> list[Offer]:
        """Put the substitutes of a failed tool first, with the weight that they have here anyway."""
        tools = [tool for tool in await stand_ins(self._evidence, state.instead_of) if state.is_open(tool)]
        await self._evidence.read(tools)
        weights = {tool: weight for tool, weight, _ in offers}
        first: list[Offer] = [(t, weights.get(t, 0.0), "substitute") for t in tools if self._evidence.has(t)]
        known = {offer[0] for offer in first}
        return [*first, *(offer for offer in offers if offer[0] not in known)]

    def _failed(self, offered: list[ToolId], state: Frontier) -> set[ToolId]:
        """Return the tools to replace: the one whose call has failed, and candidates that failed recently."""
        failing = {tool for tool in offered if self._evidence.failing(tool)}
        return failing | ({state.instead_of} if state.instead_of is not None else set())

    def _again(self, state: Frontier) -> Path:
        """Return the tools of the path that the request may need again, because it asks the same of several things."""
        if self._options.repeats_tools:
            return tuple(tool for tool in dict.fromkeys(state.path) if tool not in state.banned)
        things = self._evidence.reader.repetitions(self._request)
        return tuple(
            tool
            for tool in dict.fromkeys(state.path)
            if tool not in state.banned and state.path.count(tool) < things and self._evidence.doc(tool).required
        )

    def _start(self, closed: set[ToolId], pool: Pool) -> list[Offer]:
        """Return the first node's tools, taken in turns from the best for the request and each clause, and producers."""
        weights = {**pool.producers, **pool.found}
        tools = in_turns(self._queues(closed, pool, floor=0.0), self._settings.k)
        offers: list[Offer] = [(tool, min(1.0, weights[tool]), origin(tool, pool)) for tool in tools]
        return sorted(offers, key=lambda offer: (-offer[1] * self._evidence.rank_availability(offer[0]), offer[0]))

    async def _neighbours(self, state: Frontier, closed: set[ToolId], pool: Pool) -> tuple[list[Offer], float]:
        """Return the tools of a node as in the thesis (4.3.2.1), and its weight to ``Finish``.

        They are the K heaviest edges, topped up by the retriever. At the start only the retriever is used. Tools of
        the request's category take turns with the others that were found.
        """
        k, floor = self._settings.k, self._settings.floor if state.path else 0.0
        weighted = await self._evidence.neighbours(state.path[-1]) if state.path else []
        finish = next((w.weight for w in weighted if w.target == FINISH), 0.0)
        near = rank(w for w in weighted if w.target not in closed)
        heaviest = sorted(near, key=lambda w: (w.edge.mark != "pin", -w.weight, w.target))[:k]
        await self._evidence.read(w.target for w in heaviest)
        edges: list[Offer] = [(w.target, w.weight, "graph") for w in heaviest]
        known = closed | {offer[0] for offer in edges}
        found = [t for t in pool.found if t not in known and max(self._evidence.relevance(t)) >= floor]
        found.sort(key=lambda tool: (-pool.found[tool], tool))
        fitting = [tool for tool in found if self._category and self._evidence.doc(tool).category == self._category]
        filled = in_turns([found, fitting], k - len(edges))
        if state.path:
            return [*edges, *unweighted(filled, "retriever")], finish
        starts: list[Offer] = [(tool, min(1.0, pool.found[tool]), "start") for tool in filled]
        return sorted(starts, key=lambda offer: (-offer[1], offer[0])), finish

    async def _after(
        self,
        last: ToolId,
        closed: set[ToolId],
        pool: Pool,
        relevance: tuple[tuple[float, ...], ...],
        best: tuple[float, ...],
    ) -> tuple[list[Offer], float]:
        """Return a later node's tools and its weight to ``Finish``.

        They are its neighbours by weight times availability, then tools of the pool.

        If neighbours fill all K places and none of them serves a clause that is still open, the last few places are
        reserved for the pool. Otherwise a request of two unrelated parts could never leave a well-trodden corner of
        the graph.
        """
        k = self._settings.k
        weighted = await self._evidence.neighbours(last)
        finish = next((w.weight for w in weighted if w.target == FINISH), 0.0)
        near = [w for w in weighted if w.target not in closed]
        await self._evidence.read(w.target for w in rank(near)[: _LOOKED_AT * k])
        ranked = with_exploration(near, k, self._safe, seed=self._seed) if self._seed else rank(near)[:k]
        shown = [self._evidence.relevance(w.target) for w in ranked]
        kept = _KEPT_FREE if unserved(relevance, shown, best, self._settings.floor) else 0
        graph: list[Offer] = [(w.target, w.weight, "graph") for w in ranked[: k - min(kept, k - 1)]]
        known = closed | {offer[0] for offer in graph}
        filled = in_turns(self._queues(known, pool, self._settings.floor), k - len(graph))
        return [*graph, *((tool, 0.0, "retriever") for tool in filled)], finish

    def _queues(self, closed: set[ToolId], pool: Pool, floor: float) -> list[list[ToolId]]:
        """Return the pool ranked by relevance to each clause, by the offer, by the producers' worth, and as found."""
        relevance = self._evidence.relevance
        found = [tool for tool in pool.found if tool not in closed and max(relevance(tool)) >= floor]
        clauses = range(len(self._evidence.clauses))
        by_clause = [sorted(found, key=lambda t, i=i: (-relevance(t)[i], t)) for i in clauses]
        as_found = sorted(found, key=lambda t: (-pool.found[t] * self._evidence.rank_availability(t), t))
        producers = sorted(
            (tool for tool in pool.producers if tool not in closed),
            key=lambda t: (-pool.producers[t] * self._evidence.rank_availability(t), t),
        )
        offered = [tool for tool in pool.offered if tool not in closed]
        return [*by_clause, offered, producers, as_found]

    def _candidate(self, offer: Offer, path: Path, *, returning: bool) -> Candidate:
        """Return one candidate with the evidence for it."""
        tool, weight, origin = offer
        doc = self._evidence.doc(tool)
        fill = self._evidence.reader.fillable(doc, self._request, self._evidence.docs(path))
        return Candidate(
            tool=doc,
            weight=weight,
            availability=self._evidence.availability(tool),
            relevance=self._evidence.relevance(tool),
            origin=origin,
            missing=fill.missing,
            feeds=fill.feeds,
            returning=returning,
        )

    def _safe(self, tool: ToolId) -> bool:
        """Return whether a tool that was read is safe to call."""
        return self._evidence.has(tool) and self._evidence.doc(tool).safe


def _value(relevance: tuple[tuple[float, ...], ...], best: tuple[float, ...], floor: float) -> float:
    """Return how much of the request a path serves.

    That is the sum over clauses of its best relevance as a share of the best there is.
    """
    return sum(
        max((r[i] for r in relevance), default=0.0) / top for i, top in enumerate(best) if top >= max(floor, 1e-9)
    )
