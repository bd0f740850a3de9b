"""Choose the offline policy's next move: finish, advance along a route, go back or give up, each with a reason."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from agent.offer.candidates import MIN_COVERED_SHARE, ToolCandidate, find_answerable_clauses
from agent.policy.ask_user import can_user_answer
from agent.policy.protocol import ArgumentsQuestion, MissingValue, MoveQuestion, NextMove
from domain.tool import Parameter, ToolDoc
from graph.coupling import find_best_field
from offline.change_orders import can_make_change, find_ordered_changes, may_call, may_change
from offline.coverage import find_unanswered_words, has_answer_field
from offline.routes import MissingFinder, ToolRoute, estimate_availability, find_route
from offline.slots.binding import bind

_NEAR = 0.75
"""Share of the best option's worth from which an earlier clause's option is preferred."""

UsageShare = Callable[[Sequence[ToolDoc], str], float]
"""Returns the share of a clause's values that some tools use, in [0, 1]; 1 where the clause has none."""


@dataclass(frozen=True, slots=True)
class ChoiceParameters:
    """Thresholds and factors of the offline policy's choice."""

    floor: float = 0.45
    """Relevance below which no tool counts as an answer to a clause."""
    fitting: float = 0.33
    """Lower bound of relevance, instead of ``floor``, for tools that use at least ``mostly`` of a clause's values."""
    mostly: float = 0.6
    """Share of a clause's values that tools must use to be judged by ``fitting``."""
    unused: float = 0.4
    """Share of its worth that a route loses if it uses none of the clause's values."""
    locked: float = 0.6
    """Factor on the worth of a route with a tool that needs a secret."""
    acceptable: float = 0.65
    """Share of the best relevance to a clause that a tool needs to serve it."""
    passed: float = 0.7
    """Share of the best reachable relevance that a tool of the path, other than its last, needs to serve a clause."""
    walked: float = 0.3
    """Weight, in [0, 1], of past walks against relevance in a route's worth."""
    step: float = 0.88
    """Factor on a route's worth for each call after the first."""


@dataclass(frozen=True, slots=True)
class _RouteOption:
    """A route that serves a clause."""

    clause: int
    """Index of the clause."""
    route: ToolRoute
    worth: float
    """How good the route is for the clause; higher is better."""


@dataclass(frozen=True, slots=True)
class PolicyMove:
    """A move, and the clauses that it leaves open."""

    choice: NextMove
    purpose: str
    """The clause that the move advances; empty if there is none."""
    unserved: tuple[str, ...]
    """The clauses that the path does not serve."""


def decide(
    situation: MoveQuestion, missing: MissingFinder, parameters: ChoiceParameters, share: UsageShare | None = None
) -> PolicyMove:
    """Choose the next move.

    The order of preference is: advance to a tool for an unserved clause, advance to a safe tool that has words of the
    request which nothing has answered, finish if a clause is served, go back, give up.

    Args:
        situation: the search's question.
        missing: finds the required inputs of a tool that nothing can fill.
        parameters: thresholds and factors.
        share: measures how many of a clause's values tools use; None if that is unknown.
    """
    routes = _find_routes(situation, missing, parameters)
    answerable_clauses = _find_answerable(situation, routes, parameters, share or _assume_full_use)
    done = find_served(situation, routes, answerable_clauses, parameters)
    unserved = tuple(clause for i, clause in enumerate(situation.clauses) if i not in done)
    options = [
        o
        for i in answerable_clauses
        if i not in done and (o := _find_best_option(situation, routes, i, parameters, share or _assume_full_use))
    ]
    later_clauses = find_later_changes(situation.clauses, [option.clause for option in options])
    best = _pick_first_worthy([option for option in options if option.clause not in later_clauses])
    if best is not None:
        choice = NextMove("advance", _explain_step(situation, best), situation.candidates.index(best.route.first))
        return PolicyMove(choice, find_purpose(situation, best.route.first.relevance, best.clause), unserved)
    onward_route = find_onward_route(situation, missing) if done else None
    if onward_route is not None:
        reason = f"{onward_route.goal.tool.api} knows more of what is asked{describe_feeds(situation.path, onward_route.first)}"
        return PolicyMove(NextMove("advance", reason, situation.candidates.index(onward_route.first)), "", unserved)
    end = _choose_ending(situation, routes, answerable_clauses, done, parameters)
    if answerable_clauses and not done:
        end = replace(end, missing_value=_find_missing_value(situation, missing, parameters))
    return PolicyMove(end, "", unserved)


def _assume_full_use(tools: Sequence[ToolDoc], clause: str) -> float:
    """Report every value as used: stands for an unknown :data:`UsageShare`."""
    del tools, clause
    return 1.0


def _find_answerable(
    situation: MoveQuestion, routes: dict[int, ToolRoute], parameters: ChoiceParameters, share: UsageShare
) -> tuple[int, ...]:
    """Find the clauses that some tool can answer.

    A tool must reach the ordinary relevance floor, or the lower one and use most of the values that the clause states.
    """
    by_relevance = find_answerable_clauses(situation.best_relevance, parameters.floor)
    best_reachable = [max(values) for values in zip(*(way.goal.relevance for way in routes.values()), strict=True)]
    fitting = {
        i
        for i, best in enumerate(situation.best_relevance)
        if best >= parameters.fitting
        for way in routes.values()
        if way.goal.relevance[i]
        >= min(MIN_COVERED_SHARE * best, max(parameters.fitting, MIN_COVERED_SHARE * best_reachable[i]))
        and share([*situation.path, *(step.tool for step in way.steps)], situation.clauses[i]) >= parameters.mostly
    }
    # The lower floor is for tools that use the values; without a share nothing is known of that.
    return tuple(sorted({*by_relevance, *fitting} if share is not _assume_full_use else by_relevance))


def _pick_first_worthy(options: Sequence[_RouteOption]) -> _RouteOption | None:
    """Pick the first clause's route unless another is clearly better: requests state their parts in order."""
    most = max((option.worth for option in options), default=0.0)
    return next((option for option in options if option.worth >= _NEAR * most), None)


def _choose_ending(
    situation: MoveQuestion,
    routes: dict[int, ToolRoute],
    answerable_clauses: Sequence[int],
    done: frozenset[int],
    parameters: ChoiceParameters,
) -> NextMove:
    """Choose between finishing, going back and giving up, where no route is worth taking."""
    if not answerable_clauses:
        best = max(situation.best_relevance, default=0.0)
        return NextMove("give_up", f"no tool fits the request: the best has a relevance of {best:.2f}")
    if done:
        return NextMove("finish", describe_coverage(situation, done, answerable_clauses))
    why = _explain_no_fit(situation, routes, parameters)
    return NextMove("backtrack" if situation.path else "give_up", why)


def _find_missing_value(
    situation: MoveQuestion, missing: MissingFinder, parameters: ChoiceParameters
) -> MissingValue | None:
    """Find the one value that would make a route possible if the user stated it.

    The most relevant tool with such a value comes first, then the route with the fewest steps.
    """
    for candidate in sorted(situation.candidates, key=lambda one: -max(one.relevance, default=0.0)):
        for parameter in candidate.tool.required:
            if not may_call(candidate.tool, situation.request):
                break  # nothing is asked for a change that is not ordered
            if parameter.name not in missing(candidate.tool, situation.path) or not can_user_answer(parameter):
                continue
            routes = _find_routes(situation, _assume_stated(missing, candidate.tool, parameter), parameters).values()
            fitting = [one for one in routes if _is_acceptable(one.goal, situation, parameters)]
            fitting = [one for one in fitting if may_call(one.goal.tool, situation.request)]
            if fitting:
                best = max(fitting, key=lambda one: (max(one.goal.relevance, default=0.0), -len(one.steps)))
                return MissingValue(candidate.tool, parameter, situation.candidates.index(best.first))
    return None


def _assume_stated(missing: MissingFinder, tool: ToolDoc, parameter: Parameter) -> MissingFinder:
    """Wrap ``missing`` so that one parameter of one tool counts as filled."""

    def find_remaining(one: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
        found = missing(one, path)
        return found - {parameter.name} if one.id == tool.id else found

    return find_remaining


def find_served(
    situation: MoveQuestion,
    routes: dict[int, ToolRoute],
    answerable_clauses: Sequence[int],
    parameters: ChoiceParameters,
) -> frozenset[int]:
    """Find the clauses that the path serves.

    A tool of the path serves a clause if it is relevant enough, and no candidate that can be reached is clearly more
    relevant. A tool that feeds a more relevant candidate was called for that candidate, and serves nothing itself.
    """
    return frozenset(i for i in answerable_clauses if _is_served(situation, routes, i, parameters))


def _is_served(
    situation: MoveQuestion, routes: dict[int, ToolRoute], clause: int, parameters: ChoiceParameters
) -> bool:
    """Return whether a tool of the path serves a clause; a clause that orders a change needs a tool that makes it."""
    kinds = find_ordered_changes(situation.clauses[clause])
    fitting = (
        situation.candidates[at] for at in routes if not kinds or can_make_change(situation.candidates[at].tool, kinds)
    )
    reachable = [(candidate, candidate.relevance[clause]) for candidate in fitting]
    best = situation.best_relevance[clause]
    target = min(best, max((value for _, value in reachable), default=0.0))
    for position, relevance in enumerate(situation.path_relevance):
        value = relevance[clause]
        if kinds and not can_make_change(situation.path[position], kinds):
            continue  # reading does not do what is to be done
        if any(position in c.feeds_from and other > value for c, other in reachable):
            continue
        enough = MIN_COVERED_SHARE * target if position == len(situation.path) - 1 else parameters.passed * target
        if value >= max(parameters.acceptable * best, enough):
            return True
    return False


def _find_routes(situation: MoveQuestion, missing: MissingFinder, parameters: ChoiceParameters) -> dict[int, ToolRoute]:
    """Find a route to each candidate that fits some clause, by the candidate's index."""
    usable = [c for c in situation.candidates if may_call(c.tool, situation.request)]
    routes: dict[int, ToolRoute] = {}
    for at, candidate in enumerate(situation.candidates):
        if candidate in usable and _is_acceptable(candidate, situation, parameters):
            found_route = find_route(candidate, situation.path, usable, missing)
            if found_route is not None:
                routes[at] = found_route
    return routes


def _is_acceptable(candidate: ToolCandidate, situation: MoveQuestion, parameters: ChoiceParameters) -> bool:
    """Return whether a candidate is relevant enough to some clause, absolutely and in comparison with the best tool."""
    return any(
        best >= parameters.fitting and value >= parameters.acceptable * best
        for value, best in zip(candidate.relevance, situation.best_relevance, strict=True)
    )


def _find_best_option(
    situation: MoveQuestion, routes: dict[int, ToolRoute], clause: int, parameters: ChoiceParameters, share: UsageShare
) -> _RouteOption | None:
    """Find the best route for a clause: the goal's relevance decides, and past walks decide between similar goals."""
    best = situation.best_relevance[clause]
    kinds = find_ordered_changes(situation.clauses[clause])
    fitting = [
        way
        for way in routes.values()
        if way.goal.relevance[clause] >= parameters.acceptable * best
        and (not kinds or can_make_change(way.goal.tool, kinds))
    ]
    most = max((way.evidence for way in fitting), default=0.0)
    # Relevance counts squared, so that past walks decide only between goals that are about equally relevant.
    options = [
        _RouteOption(
            clause,
            way,
            (way.goal.relevance[clause] / best) ** 2
            * (1 - parameters.walked + parameters.walked * way.scale_evidence(most))
            * parameters.step ** (len(way.steps) - 1)
            * (parameters.locked if any(_is_locked(step.tool) for step in way.steps) else 1.0)
            * (
                1
                - parameters.unused
                * (1 - share([*situation.path, *(step.tool for step in way.steps)], situation.clauses[clause]))
            ),
        )
        for way in fitting
    ]
    # A retried goal is preferred here, but keeps its plain worth in the comparison with other clauses.
    return max(options, key=lambda o: o.worth * o.route.retry_factor, default=None)


def _is_locked(tool: ToolDoc) -> bool:
    """Return whether a tool needs a secret, which may not have been provided."""
    return any(credential.required for credential in tool.credentials)


def _explain_step(situation: MoveQuestion, option: _RouteOption) -> str:
    """Explain why the first step of a route is taken."""
    goal_route = option.route
    clause, value = situation.clauses[option.clause], goal_route.goal.relevance[option.clause]
    fed = describe_feeds(situation.path, goal_route.first)
    if goal_route.first is goal_route.goal:
        return f'covers "{clause}" ({value:.2f}){fed}'
    follower = goal_route.steps[1]
    fields = list_feeding_fields(goal_route.first.tool, follower.tool)
    gives = f"gives {', '.join(fields)}" if fields else "gives what is missing"
    return f'{gives} for {follower.tool.api}, on the way to "{clause}" ({value:.2f}){fed}'


def _explain_no_fit(situation: MoveQuestion, routes: dict[int, ToolRoute], parameters: ChoiceParameters) -> str:
    """Explain why none of the candidates can be taken."""
    if not situation.candidates:
        return "no candidate is left here"
    fitting = [c for c in situation.candidates if _is_acceptable(c, situation, parameters)]
    if not fitting:
        best = max((max(c.relevance, default=0.0) for c in situation.candidates), default=0.0)
        return f"none of the {len(situation.candidates)} candidates serves what is open (best relevance {best:.2f})"
    barred = [c for c in fitting if not may_call(c.tool, situation.request)]
    if len(barred) == len(fitting):
        return f"{barred[0].tool.api} would change something, which the request does not ask for"
    lacking = max(fitting, key=lambda c: (max(c.relevance, default=0.0), estimate_availability(c)))
    if not routes and lacking.missing:
        return f"{lacking.tool.api} fits, but nothing here gives its {describe_missing(situation, lacking)}"
    return "what fits here adds nothing to the path"


def describe_feeds(path: Sequence[ToolDoc], candidate: ToolCandidate) -> str:
    """Describe which fields of the path feed a candidate, as the end of a sentence; empty if none does."""
    sources = [
        f"{path[i].api}.{field}"
        for i in candidate.feeds_from
        for field in list_feeding_fields(path[i], candidate.tool)[:2]
    ]
    return f", fed by {', '.join(sources)}" if sources else ""


def list_feeding_fields(producer: ToolDoc, consumer: ToolDoc) -> list[str]:
    """List the names of the fields with which one tool feeds another."""
    couplings = [find_best_field(producer, parameter, consumer) for parameter in consumer.required]
    return list(dict.fromkeys(coupling.field.name or coupling.field.path for coupling in couplings if coupling))


def describe_missing(situation: MoveQuestion, candidate: ToolCandidate) -> str:
    """Name the required inputs of a candidate that neither the request nor the path fills.

    All inputs are bound at once: one by one, as the search checks them, a value may count for an input that has no
    use for it once a better one is bound.
    """
    bound = bind(ArgumentsQuestion(situation.request, candidate.tool, ()))
    fed = {feed.parameter for feed in candidate.feeds}
    return ", ".join([name for name in bound.missing if name not in fed] or candidate.missing)


def describe_coverage(situation: MoveQuestion, done: frozenset[int], answerable_clauses: Sequence[int]) -> str:
    """Describe how much of the request a finished path covers.

    Args:
        situation: the search's question.
        done: indexes of the clauses that the path serves.
        answerable_clauses: indexes of the clauses that some tool can answer.
    """
    open_clauses = {i: f'"{clause}"' for i, clause in enumerate(situation.clauses) if i not in done}
    if not open_clauses:
        return "every part of the request is covered"
    cause = "no tool at hand serves" if any(i in answerable_clauses for i in open_clauses) else "no tool fits"
    return f"{len(done)} of {len(situation.clauses)} parts are covered; {cause} {', '.join(open_clauses.values())}"


def find_onward_route(situation: MoveQuestion, missing: MissingFinder) -> ToolRoute | None:
    """Find a route from the path to the safe tool that knows most of the request's unanswered words.

    Only safe tools count: an unanswered word is a reason to read more, and never to change anything. The route's first
    step must take something from the path. None if there is no such route.
    """
    open_words = find_unanswered_words(situation.clauses, situation.path)
    if not open_words or not situation.path:
        return None
    usable = [c for c in situation.candidates if c.tool.safe and may_call(c.tool, situation.request)]
    best: tuple[tuple[int, float], ToolRoute] | None = None
    for candidate in usable:
        word_count = sum(has_answer_field(candidate.tool, group) for group in open_words)
        onward_route = find_route(candidate, situation.path, usable, missing) if word_count else None
        if onward_route is not None and onward_route.first.feeds_from:
            worth = (word_count, max(candidate.relevance, default=0.0) - 0.1 * len(onward_route.steps))
            if best is None or worth > best[0]:
                best = (worth, onward_route)
    return best[1] if best else None


def find_later_changes(clauses: Sequence[str], still_open: Sequence[int]) -> frozenset[int]:
    """Return the open clauses that order a change after another open change; changes are made in the stated order."""
    return frozenset([at for at in still_open if find_ordered_changes(clauses[at])][1:])


def find_purpose(situation: MoveQuestion, relevance: Sequence[float], clause: int | None = None) -> str:
    """Return the clause that a tool with this relevance is called for.

    It is the clause for which the tool compares best with other tools; ``clause`` wins a tie.
    """
    shares = [value / (best or 1.0) for value, best in zip(relevance, situation.best_relevance, strict=True)]
    best_served = max(range(len(shares)), key=lambda at: shares[at])
    return situation.clauses[best_served if clause is None or shares[best_served] > shares[clause] else clause]


def is_out_of_turn(situation: MoveQuestion, choice: NextMove, own: NextMove) -> bool:
    """Return whether a choice makes a change other than the one that comes next."""
    if choice.index is None or own.index is None or choice.index == own.index:
        return False
    return may_change(situation.candidates[choice.index].tool) and may_change(situation.candidates[own.index].tool)
