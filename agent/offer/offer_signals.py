"""Signals of an offer: the evidence for each tool that may serve a request, by kind."""

import math
from collections import Counter
from collections.abc import Collection, Mapping

from agent.offer.neighbourhood import OfferNeighbourhood
from agent.offer.producer_consumer_index import ProducerConsumerIndex
from agent.offer.tool_offer import OfferSignal, ReasonKind
from agent.offer.tool_profile import ToolProfile
from domain.tool import FINISH, ToolId
from graph.identifiers import split_words
from graph.weights import (
    DEFAULT_WEIGHTS,
    UNTESTED_AVAILABILITY,
    WeightParameters,
    compute_availability,
    compute_transition_weights,
    rank_candidates,
)
from retriever.experience import VOTE_EXPONENT
from retriever.words import split_terms


class RequestTerms:
    """Terms of one request, weighted over the tools that may serve it.

    Terms that no tool mentions, names above all, count for nothing.
    """

    def __init__(self, request: str, profiles: Mapping[ToolId, ToolProfile]) -> None:
        """Weight each term by its inverse document frequency.

        As in BM25, the weight is ln(1 + (N - n + 0.5) / (n + 0.5)), where n of N tools mention the term.
        """
        terms = {form for word in split_terms(request) for form in split_words(word)}
        counts = Counter(word for profile in profiles.values() for word in sorted(terms & profile.terms))
        tool_count = len(profiles)
        self._weights = {word: math.log1p((tool_count - count + 0.5) / (count + 0.5)) for word, count in counts.items()}
        self._total = math.fsum(self._weights.values()) or 1.0

    def measure_share(self, tool_words: Collection[str]) -> tuple[float, list[str]]:
        """Return the weighted share of the request that a tool's words cover, in [0, 1].

        The second value lists the words in common, rarest first.
        """
        shared = sorted(
            (word for word in self._weights if word in tool_words), key=lambda word: (-self._weights[word], word)
        )
        return sum(self._weights[word] for word in shared) / self._total, shared


Signals = dict[ToolId, dict[ReasonKind, OfferSignal]]
_SignalByTool = dict[ToolId, OfferSignal]

_HALF_RANK = 6
"""Rank at which a tool that was found is half as near as the first."""
_PASSED_BACK = 0.8
"""Factor by which a producer's worth passes on to the tools that supply its own inputs."""
_NEAR_ENOUGH = 0.2
"""Nearness from which a tool's siblings are sought."""
_UNFOUND_GAP = 0.5
"""How much below the last tool found a tool is placed that was not found."""


def collect_signals(around: OfferNeighbourhood, weights: WeightParameters = DEFAULT_WEIGHTS) -> Signals:
    """Return every kind of evidence that holds for each known tool."""
    near = {tool: _compute_nearness(around, tool) for tool in around.neighbourhoods}
    found_signals = _score_found(around)
    kinds: dict[ReasonKind, _SignalByTool] = {
        "found": found_signals,
        "service": _score_services(around, found_signals),
        **_score_terms(around),
        **_score_supply(around, near),
    }
    kinds |= {"holds": _score_containers(around, near), "sibling": _score_siblings(around, near)}
    kinds |= _score_walks(around, near, weights)
    kinds |= {"served": _score_precedents(around), "failing": _score_failures(around, weights)}
    gathered: Signals = {tool: {} for tool in around.neighbourhoods}
    for kind, signals in kinds.items():
        for tool, signal in signals.items():
            if signal.value and tool in gathered:
                gathered[tool][kind] = signal
    return gathered


def _compute_nearness(around: OfferNeighbourhood, tool: ToolId) -> float:
    """Return 1 / (1 + rank / 6) for a tool that was found, else 0."""
    place = around.ranks.get(tool)
    return 0.0 if place is None else 1 / (1 + place / _HALF_RANK)


def _score_found(around: OfferNeighbourhood) -> _SignalByTool:
    """Return the re-ranker's judgement; without one, an estimate from the rank."""
    judged = {hit.id: _estimate_odds(hit.odds, place) for place, hit in enumerate(around.hits)}
    last = min(judged.values(), default=0.0) - _UNFOUND_GAP
    hit_count = len(around.hits)
    signals = {
        tool: OfferSignal(odds, None, f"{around.ranks[tool] + 1} of {hit_count}") for tool, odds in judged.items()
    }
    return {
        tool: signals.get(tool, OfferSignal(last, None, f"not among {hit_count}")) for tool in around.neighbourhoods
    }


def _score_services(around: OfferNeighbourhood, found_signals: Mapping[ToolId, OfferSignal]) -> _SignalByTool:
    """Return for each tool the best judgement of any tool of its service.

    The search tells services apart better than the tools of one service.
    """
    best: dict[tuple[str, str], ToolId] = {}
    for tool, signal in found_signals.items():
        service = around.profiles[tool].service
        if service not in best or signal.value > found_signals[best[service]].value:
            best[service] = tool
    first = {tool: best[around.profiles[tool].service] for tool in found_signals}
    return {
        tool: OfferSignal(found_signals[other].value, other, found_signals[other].detail)
        for tool, other in first.items()
    }


def _estimate_odds(judged: float | None, place: int) -> float:
    """Return a judged log-odds, or the estimate for a rank, -0.5 - ln(1 + rank)."""
    return -0.5 - math.log1p(place) if judged is None else judged


def _score_terms(around: OfferNeighbourhood) -> dict[ReasonKind, _SignalByTool]:
    """Return how much of the request is in a tool's name, outputs and inputs."""
    request_terms = RequestTerms(around.request, around.profiles)
    signals_by_kind: dict[ReasonKind, _SignalByTool] = {"named": {}, "returns": {}, "takes": {}}
    for tool, tool_profile in around.profiles.items():
        terms_by_kind: dict[ReasonKind, frozenset[str]] = {
            "named": tool_profile.name_terms,
            "returns": tool_profile.output_terms,
            "takes": tool_profile.input_terms,
        }
        for kind, terms in terms_by_kind.items():
            share, common = request_terms.measure_share(terms)
            signals_by_kind[kind][tool] = OfferSignal(share, None, ", ".join(common[:4]))
    return signals_by_kind


def _score_supply(around: OfferNeighbourhood, near: Mapping[ToolId, float]) -> dict[ReasonKind, _SignalByTool]:
    """Return the evidence from inputs and outputs that fit: who supplies, looks up, consumes or connects."""
    # Two rounds: what a producer is worth to its consumers raises the worth of the tools that supply the producer.
    supply = ProducerConsumerIndex(around, near)
    joins = supply.score_connectors()
    first_worth = {
        tool: max(worth, _PASSED_BACK * joins[tool].value if tool in joins else 0.0) for tool, worth in near.items()
    }
    first_demand, total = supply.compute_demand(first_worth)
    worth = {
        tool: max(first_worth[tool], _PASSED_BACK * first_demand[tool].value if tool in first_demand else 0.0)
        for tool in near
    }
    supplies, _ = supply.compute_demand(worth)
    resolves = {
        tool: OfferSignal(math.log1p(sum_), supplies[tool].by, f"for inputs worth {sum_:.1f}")
        for tool, sum_ in total.items()
        if around.profiles[tool].accepts_text and not around.profiles[tool].required_inputs
    }
    return {"supplies": supplies, "resolves": resolves, "consumes": supply.score_consumers(), "joins": joins}


def _score_containers(around: OfferNeighbourhood, near: Mapping[ToolId, float]) -> _SignalByTool:
    """Return the tools whose address is a prefix of that of a near tool.

    For ``/movie/{id}/images``, that is ``/movie/{id}``.
    """
    tools_by_path = {(profile.host, profile.path): tool for tool, profile in around.profiles.items() if profile.path}
    containers: _SignalByTool = {}
    for tool, worth in near.items():
        own = around.profiles[tool]
        for size in range(len(own.path) - 1, 0, -1):
            container = tools_by_path.get((own.host, own.path[:size]))
            if container is not None and (container not in containers or worth > containers[container].value):
                containers[container] = OfferSignal(worth, tool)
    return containers


def _score_siblings(around: OfferNeighbourhood, near: Mapping[ToolId, float]) -> _SignalByTool:
    """Return the tools whose addresses share distinctive words with those of near tools of the same service."""
    resources = {tool: around.profiles[tool].address_terms for tool in around.neighbourhoods}
    common = Counter(word for own in resources.values() for word in own)
    near_tools = [tool for tool, worth in near.items() if worth > _NEAR_ENOUGH]
    related: _SignalByTool = {}
    for tool, own in resources.items():
        for other in near_tools:
            shared = own & resources[other]
            if other == tool or not shared or around.profiles[tool].service != around.profiles[other].service:
                continue
            part = sum(1 / common[word] for word in shared) / sum(1 / common[word] for word in own | resources[other])
            if tool not in related or near[other] * part > related[tool].value:
                related[tool] = OfferSignal(near[other] * part, other, ", ".join(sorted(shared)))
    return related


def _score_walks(
    around: OfferNeighbourhood, near: Mapping[ToolId, float], weights: WeightParameters
) -> dict[ReasonKind, _SignalByTool]:
    """Return the evidence of past transitions: after near tools, before them, and how often each tool was used."""
    follows: _SignalByTool = {}
    precedes: _SignalByTool = {}
    walked: _SignalByTool = {}
    for tool, neighbourhood in around.neighbourhoods.items():
        ways = compute_transition_weights(neighbourhood.out, weights)
        times = sum(way.edge.imported + way.edge.live for way in ways)
        walked[tool] = OfferSignal(math.log1p(times), None, f"{times} times")
        for way in rank_candidates(ways):
            value = near[tool] * way.rank_score
            if way.target != tool and (way.target not in follows or value > follows[way.target].value):
                follows[way.target] = OfferSignal(value, tool, f"weight {way.weight:.2f}")
        total = sum(edge.imported + edge.live for edge in neighbourhood.into) or 1
        for edge in neighbourhood.into:
            share = (edge.imported + edge.live) / total
            if edge.mark == "ban" or edge.source in (tool, FINISH):
                continue
            if edge.source not in precedes or near[tool] * share > precedes[edge.source].value:
                precedes[edge.source] = OfferSignal(near[tool] * share, tool, f"{share:.0%} of the ways into it")
    return {"follows": follows, "precedes": precedes, "walked": walked}


def _score_precedents(around: OfferNeighbourhood) -> _SignalByTool:
    """Return the votes of similar requests that were served before.

    Each votes with its similarity to a power, because the few most similar ones are much more informative than the
    others.
    """
    votes: dict[ToolId, float] = {}
    nearest: dict[ToolId, float] = {}
    total = sum(max(0.0, precedent.similarity) ** VOTE_EXPONENT for precedent in around.precedents) or 1.0
    for precedent in around.precedents:
        for tool in set(precedent.tools):
            votes[tool] = votes.get(tool, 0.0) + max(0.0, precedent.similarity) ** VOTE_EXPONENT / total
            nearest[tool] = max(precedent.similarity, nearest.get(tool, 0.0))
    return {tool: OfferSignal(vote, None, f"likeness {nearest[tool]:.2f}") for tool, vote in votes.items()}


def _score_failures(around: OfferNeighbourhood, weights: WeightParameters) -> _SignalByTool:
    """Return how far a tool's availability is below that of an untested one, ln(untested / available)."""
    failing: _SignalByTool = {}
    for tool, neighbourhood in around.neighbourhoods.items():
        available = compute_availability(neighbourhood.facts, weights)
        if available is not None and available < UNTESTED_AVAILABILITY:
            failing[tool] = OfferSignal(
                math.log(UNTESTED_AVAILABILITY / max(available, 0.01)), None, f"availability {available:.2f}"
            )
    return failing
