"""Identity of solutions, and the evidence for and against them: counts, verdicts of runs and users, merging.

Two solutions of an owner are the same if their programs are, whatever the names in them and the wording of the answer.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

from agent.programs.analysis.canonical_form import build_canonical_form
from domain.program import ProgramPlan
from domain.solution import Solution

_NAMED_INPUT = re.compile(r"\{(\w+)\}")


def compute_solution_id(owner: str, plan: ProgramPlan) -> str:
    """Return the id of an owner's program.

    :func:`domain.solution.get_program_id` returns the part of it that is the same for all owners.
    """
    program = _hash_text(build_canonical_form(plan, wording=False).text)
    return build_owned_id(program, owner)


def build_owned_id(program: str, owner: str) -> str:
    """Return the id of an owner's solution with this program."""
    return f"{program}.{hash_owner(owner)}" if owner else program


def hash_owner(owner: str) -> str:
    """Return the hash that stands for an owner in ids and in shared solutions."""
    return _hash_text(owner, 6)


def rename_patterns(existing: Solution, other: Solution, patterns: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return patterns of another solution with the same program, with the input names of the existing one.

    ``patterns`` are some of its patterns; by default all.
    """
    names = dict(zip(build_canonical_form(other.plan).inputs, build_canonical_form(existing.plan).inputs, strict=True))
    return tuple(_rename_inputs(pattern, names) for pattern in (other.patterns if patterns is None else patterns))


def _rename_inputs(pattern: str, names: Mapping[str, str]) -> str:
    return _NAMED_INPUT.sub(lambda hit: "{" + names.get(hit[1], hit[1]) + "}", pattern)


@lru_cache(maxsize=4096)
def _hash_text(text: str, size: int = 12) -> str:
    return blake2b(text.encode(), digest_size=size).hexdigest()


MAX_NET_FAILURES = 3
"""Number by which failures must exceed successes for a solution to be suspended."""
MAX_PATTERNS = 40
"""Limit of patterns of one solution; more would hardly match further requests."""
MAX_WRONG_REQUESTS = 100
"""Limit of requests with wrong answers; one more suspends a solution."""
_MAX_KEPT_RUNS = 20
"""Limit of runs that are remembered as authors of a solution, the latest ones."""
_MAX_KEPT_VERDICTS = 200
"""Limit of runs whose verdicts are remembered, the latest ones."""
_ORIGIN_RANK = {"mined": 0, "run": 1, "template": 2, "person": 3}
"""Rank of origins, from the least to the most deliberate; merged solutions keep the higher one."""


def estimate_trust(solution: Solution) -> float:
    """Return the share of successes of a solution, in (0, 1]; the request that it was made for counts as one."""
    return (solution.good + 1) / (solution.good + solution.bad + 1)


def merge_solutions(existing: Solution, new: Solution) -> Solution:
    """Return a solution merged with a new one of the same program; a run that wrote it again counts as a success.

    A suspension is lifted if the new one was made for changed signatures of its tools, or if a run that wrote it was
    served by it and it has not failed too often.
    """
    has_new_signatures = bool(new.fingerprints) and new.fingerprints != existing.fingerprints
    patterns = tuple(dict.fromkeys((*existing.patterns, *rename_patterns(existing, new))))
    rewriting_run = new.runs[-1] if new.origin == "run" and new.runs and new.runs[-1] not in existing.runs else ""
    counted_solution = count_outcome(existing, hash_run(rewriting_run), good=True) if rewriting_run else existing
    is_reinstated = has_new_signatures or (
        bool(rewriting_run) and counted_solution.bad - counted_solution.good < MAX_NET_FAILURES
    )
    return counted_solution.model_copy(
        update={
            "patterns": patterns[:MAX_PATTERNS],
            "origin": max(existing.origin, new.origin, key=_ORIGIN_RANK.__getitem__),
            "outputs": existing.outputs or new.outputs,
            "fingerprints": {**existing.fingerprints, **new.fingerprints},
            "good": counted_solution.good + new.good,
            "bad": counted_solution.bad + new.bad,
            "wrong": tuple(dict.fromkeys((*existing.wrong, *new.wrong))),
            "suspended": "" if is_reinstated else existing.suspended,
            "runs": tuple(dict.fromkeys((*existing.runs, *new.runs)))[-_MAX_KEPT_RUNS:],
            "planned": tuple(dict.fromkeys((*existing.planned, *rename_patterns(existing, new, new.planned))))[
                :MAX_PATTERNS
            ],
            "sharers": tuple(dict.fromkeys((*existing.sharers, *new.sharers))),
            "promoted": existing.promoted or new.promoted,
        }
    )


def count_outcome(solution: Solution, run: str, *, good: bool) -> Solution:
    """Return a solution with one more success or failure; it is suspended if it has failed too often.

    An outcome counts once per ``run`` (a key of :func:`hash_run`), and without one each time.
    """
    previous = solution.verdicts.get(run) if run else None
    if previous is good:
        return solution
    # If the run had the opposite verdict so far, that one is taken back.
    previous_count = int(previous is not None)
    update: dict[str, object] = {
        "good": solution.good + (1 if good else -previous_count),
        "bad": solution.bad + (-previous_count if good else 1),
    }
    if run:
        verdicts = {**{run_key: verdict for run_key, verdict in solution.verdicts.items() if run_key != run}, run: good}
        update["verdicts"] = dict(list(verdicts.items())[-_MAX_KEPT_VERDICTS:])
    updated = solution.model_copy(update=update)
    if not good and not updated.suspended and updated.bad - updated.good >= MAX_NET_FAILURES:
        return updated.model_copy(
            update={"suspended": f"it has failed {updated.bad} times, and served {updated.good} times"}
        )
    return updated


def remove_outcome(solution: Solution, run: str) -> Solution:
    """Return a solution without the outcome of a run."""
    previous = solution.verdicts.get(run)
    if previous is None:
        return solution
    verdicts = {run_key: verdict for run_key, verdict in solution.verdicts.items() if run_key != run}
    counts = {"good": solution.good - previous, "bad": solution.bad - (not previous), "verdicts": verdicts}
    return solution.model_copy(update=counts)


def copy_for_owner(shared: Solution, copy_id: str, owner: str) -> Solution:
    """Return a copy of a shared solution for an owner, without evidence; its text counts as someone else's."""
    program = shared.plan.program.model_copy(update={"tainted": True})
    blank = Solution(
        id=copy_id,
        owner=owner,
        plan=shared.plan.model_copy(update={"program": program}),
        patterns=shared.patterns,
        path=shared.path,
        origin=shared.origin,
        at=shared.at,
        sharers=() if shared.promoted else shared.sharers,
    )
    return blank.model_copy(update={"outputs": shared.outputs, "fingerprints": shared.fingerprints})


def update_wrong_requests(solution: Solution, wrong: str, right: str) -> Solution:
    """Return a solution with the request ``wrong`` marked as answered wrongly, or ``right`` no longer marked.

    An empty text stands for no request.
    """
    wrong_requests = tuple(request for request in solution.wrong if request not in (wrong, right))
    wrong_requests = (*wrong_requests, wrong) if wrong else wrong_requests
    if (
        len(wrong_requests) > MAX_WRONG_REQUESTS
    ):  # suspended instead of forgetting a request, since the wrong answer might be given again
        return solution.model_copy(update={"suspended": f"its answers to {MAX_WRONG_REQUESTS} requests were wrong"})
    return solution.model_copy(update={"wrong": wrong_requests})


def hash_run(run: str) -> str:
    """Return the key under which the verdict of a run is stored.

    It is a hash, because a shared solution must not name a user's runs.
    """
    return blake2b(run.encode(), digest_size=8).hexdigest() if run else ""
