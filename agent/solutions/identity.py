"""Identity of solutions: the same program of the same owner, whatever its names and the wording of its answer."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

from agent.programs.analysis.forms import form_of
from domain.program import ProgramPlan
from domain.solution import Solution

_NAMED = re.compile(r"\{(\w+)\}")


def solution_id(owner: str, plan: ProgramPlan) -> str:
    """Return the id of an owner's program; :func:`domain.solution.program_of` gives the part that names the program."""
    program = _digest(form_of(plan, wording=False).text)
    return owned_by(program, owner)


def owned_by(program: str, owner: str) -> str:
    """Return the id of an owner's solution with this program."""
    return f"{program}.{owner_key(owner)}" if owner else program


def owner_key(owner: str) -> str:
    """Return the hash that stands for an owner in ids and in what all users share."""
    return _digest(owner, 6)


def as_in(kept: Solution, other: Solution, patterns: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return patterns of another solution with the same program, renamed to the inputs of the kept one.

    ``patterns`` selects some of them; by default all.
    """
    names = dict(zip(form_of(other.plan).inputs, form_of(kept.plan).inputs, strict=True))
    return tuple(_renamed(pattern, names) for pattern in (other.patterns if patterns is None else patterns))


def _renamed(pattern: str, names: Mapping[str, str]) -> str:
    return _NAMED.sub(lambda hit: "{" + names.get(hit[1], hit[1]) + "}", pattern)


@lru_cache(maxsize=4096)
def _digest(text: str, size: int = 12) -> str:
    return blake2b(text.encode(), digest_size=size).hexdigest()
