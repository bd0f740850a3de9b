"""Programs written for a benchmark's requests, checked but never run, compared with the gold programs."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.policy.protocol import Policy
from agent.programs.checking import check
from agent.programs.offered import Functions, functions
from agent.programs.protocol import Attempt, ProgramQuestion, Sandbox
from agent.programs.telling import told_complaints
from domain.tool import ToolDoc
from evaluation.code_calls import Function, code_calls
from evaluation.corpora.graphqlrestbench import Sample
from evaluation.sequencing import Nearness, nearness, nothing_written

Order = Literal["listed", "shuffled"]
REWRITES = 2
"""Rewrites allowed for a text that the checks refuse."""


@dataclass(frozen=True, slots=True)
class Written:
    """The program written for one sample, and its comparison with the gold program."""

    sample: Sample
    text: str
    """The last text; empty if nothing was written."""
    nearness: Nearness
    refused: int
    """Texts that the checks refused."""
    complaints: tuple[str, ...]
    """Complaints about the last text."""
    model_calls: int
    tokens: int


def in_order(tools: Sequence[ToolDoc], order: Order, seed: str) -> list[ToolDoc]:
    """Return the tools as listed, or shuffled in the same way for the same seed."""
    found = list(tools)
    if order == "shuffled":
        random.Random(seed).shuffle(found)
    return found


async def write(
    sample: Sample,
    tools: Sequence[ToolDoc],
    names: Mapping[str, str],
    policy: Policy,
    sandbox: Sandbox,
    today: str,
    budget: int,
) -> Written:
    """Have a program written over these tools and compare it with the gold one.

    Args:
        sample: the benchmark's request.
        tools: the tools to offer.
        names: the gold program's function names, by tool id.
        policy: the author.
        sandbox: runs the checks.
        today: the date that the author is given.
        budget: tokens of the offered functions.
    """
    offered = functions(tools, budget)
    attempts: list[Attempt] = []
    text, complaints = "", tuple[str, ...]()
    for _ in range(REWRITES + 1):
        question = ProgramQuestion(
            request=sample.request, offer=offered.text, today=today, attempts=tuple(attempts), unknown=offered.unknown
        )
        written = (await policy.decide(question)).text
        if not written:
            break
        checked = await check(written, offered.text, offered.docs, sandbox, {})
        text, complaints = checked.text, checked.complaints
        if not complaints:
            break
        attempts.append(Attempt(text, told_complaints(complaints)))
    near = _near(sample, text, offered, lambda tool: names.get(tool, tool))
    used = policy.cost
    return Written(
        sample, text, near, len(attempts), complaints, used.model_calls, used.prompt_tokens + used.completion_tokens
    )


def _near(sample: Sample, text: str, offered: Functions, named: Callable[[str], str]) -> Nearness:
    known = {one.name: Function(named(one.tool), one.arguments) for one in offered.text.signatures}
    try:
        return nearness(sample.gold, code_calls(text, known))
    except SyntaxError:
        return nothing_written(sample.gold)
