"""What is known of how a solution has done, and what more becomes of it: counts, verdicts of runs and of users, and another that is the same program."""

from hashlib import blake2b

from agent.solutions.identity import as_in
from domain.solution import Solution

WORN_OUT = 3
"""So many failures more than successes, and a solution is suspended."""
PATTERNS = 40
"""Of one solution; a request that is near to none of so many is hardly nearer to one more."""
WRONG = 100
"""Requests that its answers were wrong to; one more, and a solution is suspended."""
_RUNS = 20
_VERDICTS = 200
_PROVEN = {"mined": 0, "run": 1, "template": 2, "person": 3}


def standing(solution: Solution) -> float:
    """How far it is to be trusted, in (0, 1]: the share of good uses, that which it was made for one of them."""
    return (solution.good + 1) / (solution.good + solution.bad + 1)


def merged(kept: Solution, new: Solution) -> Solution:
    """A solution with what another that is the same program adds to it; a run that wrote it again has been served by it.

    One that was suspended because its tools had drifted, and was made again for what they are now, may be taken again; so may one that was never tried,
    or whose tools are again as they were, once a run has written it and been served.
    """
    fresh = bool(new.fingerprints) and new.fingerprints != kept.fingerprints
    patterns = tuple(dict.fromkeys((*kept.patterns, *as_in(kept, new))))
    again = new.runs[-1] if new.origin == "run" and new.runs and new.runs[-1] not in kept.runs else ""
    served = counted(kept, run_key(again), good=True) if again else kept
    anew = fresh or (bool(again) and served.bad - served.good < WORN_OUT)
    return served.model_copy(
        update={
            "patterns": patterns[:PATTERNS],
            "origin": max(kept.origin, new.origin, key=_PROVEN.__getitem__),
            "outputs": kept.outputs or new.outputs,
            "fingerprints": {**kept.fingerprints, **new.fingerprints},
            "good": served.good + new.good,
            "bad": served.bad + new.bad,
            "wrong": tuple(dict.fromkeys((*kept.wrong, *new.wrong))),
            "suspended": "" if anew else kept.suspended,
            "runs": tuple(dict.fromkeys((*kept.runs, *new.runs)))[-_RUNS:],
            "planned": tuple(dict.fromkeys((*kept.planned, *as_in(kept, new, new.planned))))[:PATTERNS],
            "sharers": tuple(dict.fromkeys((*kept.sharers, *new.sharers))),
            "promoted": kept.promoted or new.promoted,
        }
    )


def counted(solution: Solution, run: str, *, good: bool) -> Solution:
    """With one more success or failure, once a run; suspended where it has failed too often. ``run`` empty: counted whatever came before."""
    before = solution.verdicts.get(run) if run else None
    if before is good:
        return solution
    undone = int(before is not None)
    update: dict[str, object] = {
        "good": solution.good + (1 if good else -undone),
        "bad": solution.bad + (-undone if good else 1),
    }
    if run:
        verdicts = {**{one: said for one, said in solution.verdicts.items() if one != run}, run: good}
        update["verdicts"] = dict(list(verdicts.items())[-_VERDICTS:])
    made = solution.model_copy(update=update)
    if not good and not made.suspended and made.bad - made.good >= WORN_OUT:
        return made.model_copy(update={"suspended": f"it has failed {made.bad} times, and served {made.good} times"})
    return made


def without(solution: Solution, run: str) -> Solution:
    """As if a run had not counted for it."""
    before = solution.verdicts.get(run)
    if before is None:
        return solution
    verdicts = {one: said for one, said in solution.verdicts.items() if one != run}
    counts = {"good": solution.good - before, "bad": solution.bad - (not before), "verdicts": verdicts}
    return solution.model_copy(update=counts)


def own_copy(shared: Solution, name: str, owner: str) -> Solution:
    """A shared solution as an owner's own, of which nothing is known yet. Its text is still another's."""
    program = shared.plan.program.model_copy(update={"tainted": True})
    blank = Solution(
        id=name,
        owner=owner,
        plan=shared.plan.model_copy(update={"program": program}),
        patterns=shared.patterns,
        path=shared.path,
        origin=shared.origin,
        at=shared.at,
        sharers=() if shared.promoted else shared.sharers,
    )
    return blank.model_copy(update={"outputs": shared.outputs, "fingerprints": shared.fingerprints})


def marked(solution: Solution, wrong: str, right: str) -> Solution:
    """With a request to which its answer was wrong, or without one to which it was right after all."""
    said = tuple(one for one in solution.wrong if one not in (wrong, right))
    said = (*said, wrong) if wrong else said
    if len(said) > WRONG:  # none is let go of: it might be given again
        return solution.model_copy(update={"suspended": f"its answers to {WRONG} requests were wrong"})
    return solution.model_copy(update={"wrong": said})


def run_key(run: str) -> str:
    """What a run's verdict is filed under: a shared solution names no user's runs."""
    return blake2b(run.encode(), digest_size=8).hexdigest() if run else ""
