"""Evidence for and against a solution: counts, verdicts of runs and users, and merging of equal programs."""

from hashlib import blake2b

from agent.solutions.identity import as_in
from domain.solution import Solution

WORN_OUT = 3
"""Failures in excess of successes that suspend a solution."""
PATTERNS = 40
"""Maximum patterns of one solution; more would hardly match further requests."""
WRONG = 100
"""Maximum requests with wrong answers; one more suspends a solution."""
_RUNS = 20
_VERDICTS = 200
_PROVEN = {"mined": 0, "run": 1, "template": 2, "person": 3}


def standing(solution: Solution) -> float:
    """Return how far a solution can be trusted, in (0, 1]: the share of successes.

    The request that it was made for counts as a success.
    """
    return (solution.good + 1) / (solution.good + solution.bad + 1)


def merged(kept: Solution, new: Solution) -> Solution:
    """Return a solution merged with another that is the same program; a run that wrote it again counts as a success.

    Its suspension is lifted if it was made again for its tools' new signatures, or if a run has written it and was
    served, unless it has failed too often.
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
    """Return a solution with one more success or failure, counted once per run.

    It is suspended if it has failed too often. Without a ``run`` it is counted in any case.
    """
    before = solution.verdicts.get(run) if run else None
    if before is good:
        return solution
    # The run has the opposite verdict so far, which is taken back.
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
    """Return a solution as if a run had not counted for it."""
    before = solution.verdicts.get(run)
    if before is None:
        return solution
    verdicts = {one: said for one, said in solution.verdicts.items() if one != run}
    counts = {"good": solution.good - before, "bad": solution.bad - (not before), "verdicts": verdicts}
    return solution.model_copy(update=counts)


def own_copy(shared: Solution, name: str, owner: str) -> Solution:
    """Return a copy of a shared solution for an owner, without evidence. Its text counts as someone else's."""
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
    """Return a solution with a request marked as answered wrongly, or with such a mark removed (``right``)."""
    said = tuple(one for one in solution.wrong if one not in (wrong, right))
    said = (*said, wrong) if wrong else said
    if len(said) > WRONG:  # suspended instead of forgetting a request, since the wrong answer might be given again
        return solution.model_copy(update={"suspended": f"its answers to {WRONG} requests were wrong"})
    return solution.model_copy(update={"wrong": said})


def run_key(run: str) -> str:
    """Return the key of a run's verdict, a hash: a shared solution must not name a user's runs."""
    return blake2b(run.encode(), digest_size=8).hexdigest() if run else ""
