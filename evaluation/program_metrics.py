"""Similarity of a program to the gold program: the four metrics of GraphQLRestBench (2024), over calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from evaluation.code_calls import CodeCall

Chain = tuple[str, ...]
"""Functions that are called one with the response of the other."""
METRICS = ("arg_full", "arg_functions", "seq_full", "seq_conn")
"""Names of the metrics in the paper."""
PAPER = {"arg_full": 0.7812, "arg_functions": 0.8701, "seq_full": 0.9687, "seq_conn": 1.0}
"""Best results of the paper's models on its test part, each metric by itself."""


@dataclass(frozen=True, slots=True)
class ProgramMatch:
    """Comparison of a program with the gold program."""

    matched: tuple[bool, ...]
    """For each gold call, whether a call of that function has all of its arguments."""
    sequence: bool
    """True if both call the same functions in the same order."""
    chains: bool
    """True if both have the same chains of calls that need one another's responses, in any order."""


def match_program(gold: Sequence[CodeCall], written: Sequence[CodeCall]) -> ProgramMatch:
    """Compare a written program with the gold one.

    Further arguments do not count against it, nor do further calls in the metrics of arguments.
    """
    unmatched = list(written)
    matched: list[bool] = []
    for gold_call in gold:
        counterpart = next((one for one in unmatched if _has_gold_arguments(one, gold_call)), None)
        if counterpart is not None:
            unmatched.remove(counterpart)
        matched.append(counterpart is not None)
    same_sequence = [one.function for one in gold] == [one.function for one in written]
    return ProgramMatch(tuple(matched), same_sequence, sorted(find_chains(gold)) == sorted(find_chains(written)))


def match_nothing(gold: Sequence[CodeCall]) -> ProgramMatch:
    """Return the comparison for a text that is no program: nothing matches."""
    return ProgramMatch(tuple(False for _ in gold), sequence=False, chains=False)


def find_chains(calls: Sequence[CodeCall]) -> list[Chain]:
    """Return every path from a call that needs no other to one that none needs, as function names.

    A call that stands alone is a chain of one.
    """
    users: dict[int, list[int]] = {place: [] for place in range(len(calls))}
    for place, call in enumerate(calls):
        for used in call.uses:
            users[used].append(place)

    def from_(place: int) -> list[Chain]:
        own = calls[place].function
        return [(own, *rest) for after in users[place] for rest in from_(after)] or [(own,)]

    return [chain for place, call in enumerate(calls) if not call.uses for chain in from_(place)]


def compute_metrics(matches: Sequence[ProgramMatch]) -> dict[str, float | int]:
    """Return the four metrics: means over programs, except ``arg_functions``, which is a mean over gold calls."""
    calls = [one for each in matches for one in each.matched]
    return {
        "n": len(matches),
        "calls": len(calls),
        "arg_full": _compute_mean([all(one.matched) for one in matches]),
        "arg_functions": _compute_mean(calls),
        "seq_full": _compute_mean([one.sequence for one in matches]),
        "seq_conn": _compute_mean([one.chains for one in matches]),
    }


def _has_gold_arguments(written: CodeCall, gold: CodeCall) -> bool:
    return written.function == gold.function and all(
        written.arguments.get(name) == value for name, value in gold.arguments.items()
    )


def _compute_mean(values: Sequence[bool]) -> float:
    return mean(values) if values else 0.0
