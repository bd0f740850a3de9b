"""Programs that an author writes for a benchmark's requests, checked and never run, held against the gold ones."""

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
"""How often a text that the checks refuse is written anew."""


@dataclass(frozen=True, slots=True)
class Written:
    """``text``: the last one; empty where nothing was written. ``refused``: how many texts the checks refused, ``complaints`` those of the last."""

    sample: Sample
    text: str
    nearness: Nearness
    refused: int
    complaints: tuple[str, ...]
    model_calls: int
    tokens: int


def in_order(tools: Sequence[ToolDoc], order: Order, seed: str) -> list[ToolDoc]:
    """The tools as they are listed, or dealt anew, the same way for the same seed."""
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
    """Have a program written over these tools. ``names``: what the gold program calls them, by id. ``budget``: tokens of the functions."""
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
