"""The offline policy's move at a node: pure, deterministic, and with a reason that a person can follow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent.offer.candidates import COVERED, Candidate, answerable
from agent.policy.asking_back import can_be_told
from agent.policy.protocol import ArgumentsQuestion, Choice, Lacking, Situation
from domain.tool import Parameter, ToolDoc
from graph.coupling import best_field
from offline.change_words import changes, makes, may_call, told_to_change
from offline.coverage import answers, unsaid
from offline.routes import Missing, Route, available, route
from offline.slots.binding import bind

_NEAR = 0.75

Share = Callable[[Sequence[ToolDoc], str], float]
"""Computes the share of a clause's values that some tools use, in [0, 1]; 1 where the clause has none."""


@dataclass(frozen=True, slots=True)
class ChoiceParameters:
    """Thresholds and factors of the offline choice."""

    floor: float = 0.45
    """A clause stays unanswered if no tool's relevance reaches this."""
    fitting: float = 0.33
    """The floor for tools that use at least ``mostly`` of a clause's values."""
    mostly: float = 0.6
    """Share of a clause's values from which a tool is judged by ``fitting`` instead of ``floor``."""
    unused: float = 0.4
    """Share of a route's worth that is lost if none of the clause's values is used."""
    locked: float = 0.6
    """Factor for a route that needs a secret."""
    acceptable: float = 0.65
    """Share of the best relevance from which a tool may serve a clause if nothing better can be called."""
    passed: float = 0.7
    """Share of the best reachable relevance from which a tool before the path's last one serves a clause."""
    walked: float = 0.3
    """Weight of past walks, against relevance, in a route's worth."""
    step: float = 0.88
    """Factor for each further call of a route."""


@dataclass(frozen=True, slots=True)
class _Option:
    """A route that serves a clause; options are ordered by ``worth``."""

    clause: int
    way: Route
    worth: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """A move with its purpose."""

    choice: Choice
    purpose: str
    """The clause that the move advances; empty if there is none."""
    unserved: tuple[str, ...]
    """The clauses that the path does not serve."""


def decide(situation: Situation, missing: Missing, parameters: ChoiceParameters, share: Share | None = None) -> Verdict:
    """Finish if every answerable clause is served, else take the best route to a tool for an open one, else go back."""
    ways = _ways(situation, missing, parameters)
    able = _able(situation, ways, parameters, share or _unknown)
    done = served(situation, ways, able, parameters)
    unserved = tuple(clause for i, clause in enumerate(situation.clauses) if i not in done)
    options = [o for i in able if i not in done and (o := _option(situation, ways, i, parameters, share or _unknown))]
    later = told_later(situation.clauses, [option.clause for option in options])
    best = _first_worthy([option for option in options if option.clause not in later])
    if best is not None:
        choice = Choice("advance", _why(situation, best), situation.candidates.index(best.way.first))
        return Verdict(choice, purpose_of(situation, best.way.first.relevance, best.clause), unserved)
    further = onward(situation, missing) if done else None
    if further is not None:
        reason = f"{further.goal.tool.api} knows more of what is asked{fed_by(situation.path, further.first)}"
        return Verdict(Choice("advance", reason, situation.candidates.index(further.first)), "", unserved)
    end = _end(situation, ways, able, done, parameters)
    if able and not done:
        end = replace(end, lacking=_lacking(situation, missing, parameters))
    return Verdict(end, "", unserved)


def _unknown(tools: Sequence[ToolDoc], clause: str) -> float:
    """Count the values of every clause as used, where nothing is known of the values that tools use."""
    del tools, clause
    return 1.0


def _able(situation: Situation, ways: dict[int, Route], parameters: ChoiceParameters, share: Share) -> tuple[int, ...]:
    """Find the clauses that some tool fits: by its relevance, or by a little less if it uses the values stated."""
    able = answerable(situation.best_relevance, parameters.floor)
    reached = [max(values) for values in zip(*(way.goal.relevance for way in ways.values()), strict=True)]
    fitting = {
        i
        for i, best in enumerate(situation.best_relevance)
        if best >= parameters.fitting
        for way in ways.values()
        if way.goal.relevance[i] >= min(COVERED * best, max(parameters.fitting, COVERED * reached[i]))
        and share([*situation.path, *(step.tool for step in way.steps)], situation.clauses[i]) >= parameters.mostly
    }
    # The lower floor is for tools that use the values; without a share nothing is known of that.
    return tuple(sorted({*able, *fitting} if share is not _unknown else able))


def _first_worthy(options: Sequence[_Option]) -> _Option | None:
    """Pick the first clause's route unless another is clearly better: requests state their parts in order."""
    most = max((option.worth for option in options), default=0.0)
    return next((option for option in options if option.worth >= _NEAR * most), None)


def _end(
    situation: Situation,
    ways: dict[int, Route],
    able: Sequence[int],
    done: frozenset[int],
    parameters: ChoiceParameters,
) -> Choice:
    """Choose between giving up, finishing and going back, where no route is worth taking."""
    if not able:
        best = max(situation.best_relevance, default=0.0)
        return Choice("give_up", f"no tool fits the request: the best has a relevance of {best:.2f}")
    if done:
        return Choice("finish", finished(situation, done, able))
    why = _unfit(situation, ways, parameters)
    return Choice("backtrack" if situation.path else "give_up", why)


def _lacking(situation: Situation, missing: Missing, parameters: ChoiceParameters) -> Lacking | None:
    """Find the one value that would open a route if the user stated it.

    Of several it is that of the most relevant tool, then of the route with the fewest steps.
    """
    for candidate in sorted(situation.candidates, key=lambda one: -max(one.relevance, default=0.0)):
        for parameter in candidate.tool.required:
            if not may_call(candidate.tool, situation.request):
                break  # nothing is asked for a change that is not ordered
            if parameter.name not in missing(candidate.tool, situation.path) or not can_be_told(parameter):
                continue
            ways = _ways(situation, _told(missing, candidate.tool, parameter), parameters).values()
            fit = [one for one in ways if _acceptable(one.goal, situation, parameters)]
            fit = [one for one in fit if may_call(one.goal.tool, situation.request)]
            if fit:
                best = max(fit, key=lambda one: (max(one.goal.relevance, default=0.0), -len(one.steps)))
                return Lacking(candidate.tool, parameter, situation.candidates.index(best.first))
    return None


def _told(missing: Missing, tool: ToolDoc, parameter: Parameter) -> Missing:
    """Return the function that finds missing inputs, as if a value of one tool were stated."""

    def left(one: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
        found = missing(one, path)
        return found - {parameter.name} if one.id == tool.id else found

    return left


def served(
    situation: Situation, ways: dict[int, Route], able: Sequence[int], parameters: ChoiceParameters
) -> frozenset[int]:
    """Find the clauses that the path serves.

    A tool of the path serves a clause if it is acceptable and no reachable candidate is clearly better. A tool whose
    output feeds a more relevant candidate was called for that one's sake, and serves nothing by itself.
    """
    return frozenset(i for i in able if _serves(situation, ways, i, parameters))


def _serves(situation: Situation, ways: dict[int, Route], clause: int, parameters: ChoiceParameters) -> bool:
    """Return whether a tool of the path serves a clause; a clause that orders a change needs a tool that makes it."""
    kinds = told_to_change(situation.clauses[clause])
    able = (situation.candidates[at] for at in ways if not kinds or makes(situation.candidates[at].tool, kinds))
    reachable = [(candidate, candidate.relevance[clause]) for candidate in able]
    best = situation.best_relevance[clause]
    target = min(best, max((value for _, value in reachable), default=0.0))
    for position, relevance in enumerate(situation.path_relevance):
        value = relevance[clause]
        if kinds and not makes(situation.path[position], kinds):
            continue  # reading does not do what is to be done
        if any(position in c.feeds_from and other > value for c, other in reachable):
            continue
        enough = COVERED * target if position == len(situation.path) - 1 else parameters.passed * target
        if value >= max(parameters.acceptable * best, enough):
            return True
    return False


def _ways(situation: Situation, missing: Missing, parameters: ChoiceParameters) -> dict[int, Route]:
    """Find a route to each candidate that fits some clause, by the candidate's index."""
    usable = [c for c in situation.candidates if may_call(c.tool, situation.request)]
    ways: dict[int, Route] = {}
    for at, candidate in enumerate(situation.candidates):
        if candidate in usable and _acceptable(candidate, situation, parameters):
            way = route(candidate, situation.path, usable, missing)
            if way is not None:
                ways[at] = way
    return ways


def _acceptable(candidate: Candidate, situation: Situation, parameters: ChoiceParameters) -> bool:
    return any(
        best >= parameters.fitting and value >= parameters.acceptable * best
        for value, best in zip(candidate.relevance, situation.best_relevance, strict=True)
    )


def _option(
    situation: Situation, ways: dict[int, Route], clause: int, parameters: ChoiceParameters, share: Share
) -> _Option | None:
    """Find the best route for a clause: the goal's relevance leads, past walks decide between similar ones."""
    best = situation.best_relevance[clause]
    kinds = told_to_change(situation.clauses[clause])
    fit = [
        way
        for way in ways.values()
        if way.goal.relevance[clause] >= parameters.acceptable * best and (not kinds or makes(way.goal.tool, kinds))
    ]
    most = max((way.evidence for way in fit), default=0.0)
    options = [
        _Option(
            clause,
            way,
            (way.goal.relevance[clause] / best) ** 2
            * (1 - parameters.walked + parameters.walked * way.share(most))
            * parameters.step ** (len(way.steps) - 1)
            * (parameters.locked if any(_locked(step.tool) for step in way.steps) else 1.0)
            * (
                1
                - parameters.unused
                * (1 - share([*situation.path, *(step.tool for step in way.steps)], situation.clauses[clause]))
            ),
        )
        for way in fit
    ]
    # A retried goal is preferred here, but keeps its plain worth in the comparison with other clauses.
    return max(options, key=lambda o: o.worth * o.way.turn, default=None)


def _locked(tool: ToolDoc) -> bool:
    """Return whether a tool needs a secret, which may not be there."""
    return any(credential.required for credential in tool.credentials)


def _why(situation: Situation, option: _Option) -> str:
    """Explain the first step of a route."""
    way = option.way
    clause, value = situation.clauses[option.clause], way.goal.relevance[option.clause]
    fed = fed_by(situation.path, way.first)
    if way.first is way.goal:
        return f'covers "{clause}" ({value:.2f}){fed}'
    follower = way.steps[1]
    fields = given(way.first.tool, follower.tool)
    gives = f"gives {', '.join(fields)}" if fields else "gives what is missing"
    return f'{gives} for {follower.tool.api}, on the way to "{clause}" ({value:.2f}){fed}'


def _unfit(situation: Situation, ways: dict[int, Route], parameters: ChoiceParameters) -> str:
    """Explain why none of the candidates can be taken."""
    if not situation.candidates:
        return "no candidate is left here"
    fit = [c for c in situation.candidates if _acceptable(c, situation, parameters)]
    if not fit:
        best = max((max(c.relevance, default=0.0) for c in situation.candidates), default=0.0)
        return f"none of the {len(situation.candidates)} candidates serves what is open (best relevance {best:.2f})"
    barred = [c for c in fit if not may_call(c.tool, situation.request)]
    if len(barred) == len(fit):
        return f"{barred[0].tool.api} would change something, which the request does not ask for"
    lacking = max(fit, key=lambda c: (max(c.relevance, default=0.0), available(c)))
    if not ways and lacking.missing:
        return f"{lacking.tool.api} fits, but nothing here gives its {lacks(situation, lacking)}"
    return "what fits here adds nothing to the path"


def fed_by(path: Sequence[ToolDoc], candidate: Candidate) -> str:
    """Describe what feeds a candidate, as the end of a sentence; empty if nothing does."""
    sources = [f"{path[i].api}.{field}" for i in candidate.feeds_from for field in given(path[i], candidate.tool)[:2]]
    return f", fed by {', '.join(sources)}" if sources else ""


def given(producer: ToolDoc, consumer: ToolDoc) -> list[str]:
    """List the names of the fields with which one tool feeds another."""
    found = [best_field(producer, parameter, consumer) for parameter in consumer.required]
    return list(dict.fromkeys(coupling.field.name or coupling.field.path for coupling in found if coupling))


def lacks(situation: Situation, candidate: Candidate) -> str:
    """Name the required inputs of a candidate that neither the request nor the path fills.

    All inputs are bound at once: one by one, as the search checks them, a value may count for an input that has no
    use for it once a better one is bound.
    """
    bound = bind(ArgumentsQuestion(situation.request, candidate.tool, ()))
    fed = {feed.parameter for feed in candidate.feeds}
    return ", ".join([name for name in bound.missing if name not in fed] or candidate.missing)


def finished(situation: Situation, done: frozenset[int], able: Sequence[int]) -> str:
    """Describe how much of the request a finished path covers.

    ``done``: clauses that it serves; ``answerable_clauses``: clauses that any tool fits.
    """
    left = {i: f'"{clause}"' for i, clause in enumerate(situation.clauses) if i not in done}
    if not left:
        return "every part of the request is covered"
    known = "no tool at hand serves" if any(i in able for i in left) else "no tool fits"
    return f"{len(done)} of {len(situation.clauses)} parts are covered; {known} {', '.join(left.values())}"


def onward(situation: Situation, missing: Missing) -> Route | None:
    """Find the route to a tool that knows most of the request's unanswered words and takes something from the path.

    The tool must be safe: unanswered words are a reason to look further, never to change anything. None if there is
    no route.
    """
    open_words = unsaid(situation.clauses, situation.path)
    if not open_words or not situation.path:
        return None
    usable = [c for c in situation.candidates if c.tool.safe and may_call(c.tool, situation.request)]
    best: tuple[tuple[int, float], Route] | None = None
    for candidate in usable:
        said = sum(answers(candidate.tool, group) for group in open_words)
        way = route(candidate, situation.path, usable, missing) if said else None
        if way is not None and way.first.feeds_from:
            worth = (said, max(candidate.relevance, default=0.0) - 0.1 * len(way.steps))
            if best is None or worth > best[0]:
                best = (worth, way)
    return best[1] if best else None


def told_later(clauses: Sequence[str], still_open: Sequence[int]) -> frozenset[int]:
    """Return the open clauses that order a change behind another change that is still to be made."""
    return frozenset([at for at in still_open if told_to_change(clauses[at])][1:])


def purpose_of(situation: Situation, relevance: Sequence[float], clause: int | None = None) -> str:
    """Find the clause that a tool of this relevance is called for.

    It is the clause that the tool serves best in comparison with others, or ``clause`` if it serves that one as well.
    """
    shares = [value / (best or 1.0) for value, best in zip(relevance, situation.best_relevance, strict=True)]
    own = max(range(len(shares)), key=lambda at: shares[at])
    return situation.clauses[own if clause is None or shares[own] > shares[clause] else clause]


def out_of_turn(situation: Situation, choice: Choice, own: Choice) -> bool:
    """Return whether a choice makes another change than the one whose turn it is."""
    if choice.index is None or own.index is None or choice.index == own.index:
        return False
    return changes(situation.candidates[choice.index].tool) and changes(situation.candidates[own.index].tool)
