"""Which solutions are one: the same program for the same owner, whatever its names and however it words its answer."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

from agent.programs.analysis.forms import form_of
from domain.program import ProgramPlan
from domain.solution import Solution

_NAMED = re.compile(r"\{(\w+)\}")


def solution_id(owner: str, plan: ProgramPlan) -> str:
    """One id for one program of one owner; :func:`domain.solution.program_of` tells the program."""
    program = _digest(form_of(plan, wording=False).text)
    return owned_by(program, owner)


def owned_by(program: str, owner: str) -> str:
    """The id of an owner's solution that is this program."""
    return f"{program}.{owner_key(owner)}" if owner else program


def owner_key(owner: str) -> str:
    """Return what stands for an owner in ids and in what all share."""
    return _digest(owner, 6)


def as_in(kept: Solution, other: Solution, patterns: Sequence[str] | None = None) -> tuple[str, ...]:
    """The patterns of a solution that is the same program, with the names that the kept one has for its inputs. ``patterns``: these of them."""
    names = dict(zip(form_of(other.plan).inputs, form_of(kept.plan).inputs, strict=True))
    return tuple(_renamed(pattern, names) for pattern in (other.patterns if patterns is None else patterns))


def _renamed(pattern: str, names: Mapping[str, str]) -> str:
    return _NAMED.sub(lambda hit: "{" + names.get(hit[1], hit[1]) + "}", pattern)


@lru_cache(maxsize=4096)
def _digest(text: str, size: int = 12) -> str:
    return blake2b(text.encode(), digest_size=size).hexdigest()
