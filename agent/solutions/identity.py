"""Identity of solutions: the same program of the same owner, whatever its names and the wording of its answer."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b

from agent.programs.analysis.canonical_form import build_canonical_form
from domain.program import ProgramPlan
from domain.solution import Solution

_NAMED = re.compile(r"\{(\w+)\}")


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
    return _NAMED.sub(lambda hit: "{" + names.get(hit[1], hit[1]) + "}", pattern)


@lru_cache(maxsize=4096)
def _hash_text(text: str, size: int = 12) -> str:
    return blake2b(text.encode(), digest_size=size).hexdigest()
