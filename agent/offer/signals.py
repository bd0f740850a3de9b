"""Evidence for each tool that may serve a request: one figure per kind of reason, with the tool it comes from."""

import math
from collections import Counter
from collections.abc import Mapping

from agent.offer.offer import Kind, Signal
from agent.offer.said import Said
from agent.offer.supply import Supply
from agent.offer.surroundings import Surroundings
from domain.tool import FINISH, ToolId
from graph.weights import DEFAULTS, UNTESTED, WeightParameters, availability, rank, transition_weights
from retriever.experience import SHARPNESS

Signals = dict[ToolId, dict[Kind, Signal]]
_Of = dict[ToolId, Signal]

_HALF = 6
"""Rank at which a tool that was found is half as near as the first."""
_BACK = 0.8
"""Factor by which a producer's worth passes on to the tools that supply its own inputs."""
_NEAR = 0.2
_UNFOUND = 0.5
"""How much below the last tool found a tool is placed that was not found."""


def signals(around: Surroundings, weights: WeightParameters = DEFAULTS) -> Signals:
    """Return every kind of evidence that holds for each known tool."""
    near = {tool: _nearness(around, tool) for tool in around.known}
    found = _found(around)
    kinds: dict[Kind, _Of] = {
        "found": found,
        "service": _services(around, found),
        **_said(around),
        **_supplied(around, near),
    }
    kinds |= {"holds": _holds(around, near), "sibling": _siblings(around, near)}
    kinds |= _walked(around, near, weights)
    kinds |= {"served": _served(around), "failing": _failing(around, weights)}
    gathered: Signals = {tool: {} for tool in around.known}
    for kind, of in kinds.items():
        for tool, signal in of.items():
            if signal.value and tool in gathered:
                gathered[tool][kind] = signal
    return gathered


def _nearness(around: Surroundings, tool: ToolId) -> float:
    """Return 1 / (1 + rank / 6) for a tool that was found, else 0."""
    place = around.place.get(tool)
    return 0.0 if place is None else 1 / (1 + place / _HALF)


def _found(around: Surroundings) -> _Of:
    """Return the re-ranker's judgement; without one, an estimate from the rank."""
    judged = {hit.id: _odds(hit.odds, place) for place, hit in enumerate(around.found)}
    last = min(judged.values(), default=0.0) - _UNFOUND
    many = len(around.found)
    found = {tool: Signal(odds, None, f"{around.place[tool] + 1} of {many}") for tool, odds in judged.items()}
    return {tool: found.get(tool, Signal(last, None, f"not among {many}")) for tool in around.known}


def _services(around: Surroundings, found: Mapping[ToolId, Signal]) -> _Of:
    """Return for each tool the best judgement of any tool of its service.

    The search tells services apart better than the tools of one service.
    """
    best: dict[tuple[str, str], ToolId] = {}
    for tool, signal in found.items():
        service = around.profiles[tool].service
        if service not in best or signal.value > found[best[service]].value:
            best[service] = tool
    first = {tool: best[around.profiles[tool].service] for tool in found}
    return {tool: Signal(found[other].value, other, found[other].detail) for tool, other in first.items()}


def _odds(judged: float | None, place: int) -> float:
    """Return a judged log-odds, or the estimate for a rank, -0.5 - ln(1 + rank)."""
    return -0.5 - math.log1p(place) if judged is None else judged


def _said(around: Surroundings) -> dict[Kind, _Of]:
    """Return how much of the request is in a tool's name, outputs and inputs."""
    said = Said(around.request, around.profiles)
    told: dict[Kind, _Of] = {"named": {}, "returns": {}, "takes": {}}
    for tool, one in around.profiles.items():
        spoken_of: dict[Kind, frozenset[str]] = {"named": one.named, "returns": one.returns, "takes": one.takes}
        for kind, spoken in spoken_of.items():
            share, common = said.share(spoken)
            told[kind][tool] = Signal(share, None, ", ".join(common[:4]))
    return told


def _supplied(around: Surroundings, near: Mapping[ToolId, float]) -> dict[Kind, _Of]:
    """Return the evidence from inputs and outputs that fit: who supplies, looks up, consumes or connects."""
    supply = Supply(around, near)
    joins = supply.joined()
    first = {tool: max(worth, _BACK * joins[tool].value if tool in joins else 0.0) for tool, worth in near.items()}
    once, total = supply.demand(first)
    worth = {tool: max(first[tool], _BACK * once[tool].value if tool in once else 0.0) for tool in near}
    supplies, _ = supply.demand(worth)
    resolves = {
        tool: Signal(math.log1p(sum_), supplies[tool].by, f"for inputs worth {sum_:.1f}")
        for tool, sum_ in total.items()
        if around.profiles[tool].reads_words and not around.profiles[tool].needs
    }
    return {"supplies": supplies, "resolves": resolves, "consumes": supply.consumed(), "joins": joins}


def _holds(around: Surroundings, near: Mapping[ToolId, float]) -> _Of:
    """Return the tools whose address is a prefix of that of a near tool.

    For ``/movie/{id}/images``, that is ``/movie/{id}``.
    """
    at = {(one.host, one.path): tool for tool, one in around.profiles.items() if one.path}
    holds: _Of = {}
    for tool, worth in near.items():
        own = around.profiles[tool]
        for size in range(len(own.path) - 1, 0, -1):
            above = at.get((own.host, own.path[:size]))
            if above is not None and (above not in holds or worth > holds[above].value):
                holds[above] = Signal(worth, tool)
    return holds


def _siblings(around: Surroundings, near: Mapping[ToolId, float]) -> _Of:
    """Return the tools whose addresses share distinctive words with those of near tools of the same service."""
    resources = {tool: around.profiles[tool].resource for tool in around.known}
    common = Counter(word for own in resources.values() for word in own)
    close = [tool for tool, worth in near.items() if worth > _NEAR]
    siblings: _Of = {}
    for tool, own in resources.items():
        for other in close:
            shared = own & resources[other]
            if other == tool or not shared or around.profiles[tool].service != around.profiles[other].service:
                continue
            part = sum(1 / common[word] for word in shared) / sum(1 / common[word] for word in own | resources[other])
            if tool not in siblings or near[other] * part > siblings[tool].value:
                siblings[tool] = Signal(near[other] * part, other, ", ".join(sorted(shared)))
    return siblings


def _walked(around: Surroundings, near: Mapping[ToolId, float], weights: WeightParameters) -> dict[Kind, _Of]:
    """Return the evidence of past transitions: after near tools, before them, and how often each tool was used."""
    follows: _Of = {}
    precedes: _Of = {}
    walked: _Of = {}
    for tool, known in around.known.items():
        ways = transition_weights(known.out, weights)
        times = sum(way.edge.imported + way.edge.live for way in ways)
        walked[tool] = Signal(math.log1p(times), None, f"{times} times")
        for way in rank(ways):
            value = near[tool] * way.rank_score
            if way.target != tool and (way.target not in follows or value > follows[way.target].value):
                follows[way.target] = Signal(value, tool, f"weight {way.weight:.2f}")
        total = sum(edge.imported + edge.live for edge in known.into) or 1
        for edge in known.into:
            share = (edge.imported + edge.live) / total
            if edge.mark == "ban" or edge.source in (tool, FINISH):
                continue
            if edge.source not in precedes or near[tool] * share > precedes[edge.source].value:
                precedes[edge.source] = Signal(near[tool] * share, tool, f"{share:.0%} of the ways into it")
    return {"follows": follows, "precedes": precedes, "walked": walked}


def _served(around: Surroundings) -> _Of:
    """Return the votes of similar requests that were served before.

    Each votes with its similarity to a power, because the few most similar ones are much more informative than the
    others.
    """
    votes: dict[ToolId, float] = {}
    nearest: dict[ToolId, float] = {}
    total = sum(max(0.0, one.similarity) ** SHARPNESS for one in around.precedents) or 1.0
    for one in around.precedents:
        for tool in set(one.tools):
            votes[tool] = votes.get(tool, 0.0) + max(0.0, one.similarity) ** SHARPNESS / total
            nearest[tool] = max(one.similarity, nearest.get(tool, 0.0))
    return {tool: Signal(vote, None, f"likeness {nearest[tool]:.2f}") for tool, vote in votes.items()}


def _failing(around: Surroundings, weights: WeightParameters) -> _Of:
    """Return how far a tool's availability is below that of an untested one, ln(untested / available)."""
    failing: _Of = {}
    for tool, known in around.known.items():
        available = availability(known.facts, weights)
        if available is not None and available < UNTESTED:
            failing[tool] = Signal(math.log(UNTESTED / max(available, 0.01)), None, f"availability {available:.2f}")
    return failing
