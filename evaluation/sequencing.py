"""Similarity of a program to the gold program: the four metrics of GraphQLRestBench (2024), over calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from evaluation.code_calls import CodeCall

Chain = tuple[str, ...]
METRICS = ("arg_full", "arg_functions", "seq_full", "seq_conn")
PAPER = {"arg_full": 0.7812, "arg_functions": 0.8701, "seq_full": 0.9687, "seq_conn": 1.0}
"""Best results of the paper's models on its test part, each metric by itself."""


@dataclass(frozen=True, slots=True)
class Nearness:
    """Comparison of a program with the gold program."""

    matched: tuple[bool, ...]
    """For each gold call, whether a call of that function has all of its arguments."""
    sequence: bool
    """True if both call the same functions in the same order."""
    chains: bool
    """True if both have the same chains of calls that need one another's responses, in any order."""


def nearness(gold: Sequence[CodeCall], written: Sequence[CodeCall]) -> Nearness:
    """Compare a written program with the gold one.

    Further arguments do not count against it, nor do further calls in the metrics of arguments.
    """
    left = list(written)
    matched: list[bool] = []
    for wanted in gold:
        found = next((one for one in left if _holds(one, wanted)), None)
        if found is not None:
            left.remove(found)
        matched.append(found is not None)
    functions = [one.function for one in gold] == [one.function for one in written]
    return Nearness(tuple(matched), functions, sorted(chains(gold)) == sorted(chains(written)))


def nothing_written(gold: Sequence[CodeCall]) -> Nearness:
    """Return the comparison for a text that is no program: nothing matches."""
    return Nearness(tuple(False for _ in gold), sequence=False, chains=False)


def chains(calls: Sequence[CodeCall]) -> list[Chain]:
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


def metrics(found: Sequence[Nearness]) -> dict[str, float | int]:
    """Return the four metrics: means over programs, except ``arg_functions``, which is a mean over gold calls."""
    calls = [one for each in found for one in each.matched]
    return {
        "n": len(found),
        "calls": len(calls),
        "arg_full": _mean([all(one.matched) for one in found]),
        "arg_functions": _mean(calls),
        "seq_full": _mean([one.sequence for one in found]),
        "seq_conn": _mean([one.chains for one in found]),
    }


def _holds(written: CodeCall, wanted: CodeCall) -> bool:
    return written.function == wanted.function and all(
        written.arguments.get(name) == value for name, value in wanted.arguments.items()
    )


def _mean(values: Sequence[bool]) -> float:
    return mean(values) if values else 0.0
