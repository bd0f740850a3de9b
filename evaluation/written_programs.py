"""Have programs written for a benchmark's requests, and compare them with the gold programs without running them.

The four metrics are those of GraphQLRestBench (2024), over calls.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.policy.protocol import Policy
from agent.programs.author_feedback import describe_complaints
from agent.programs.offered_functions import OfferedFunctions, build_functions
from agent.programs.program_checks import check_program
from agent.programs.program_types import ProgramAttempt, ProgramQuestion, Sandbox
from domain.tool import ToolDoc
from evaluation.code_calls import FunctionSignature, extract_calls
from evaluation.corpora.graphqlrestbench import ProgramSample
from evaluation.program_metrics import ProgramMatch, match_nothing, match_program

Order = Literal["listed", "shuffled"]
REWRITES = 2
"""Rewrites allowed for a text that the checks refuse."""


@dataclass(frozen=True, slots=True)
class ProgramEvaluation:
    """The program written for one sample, and its comparison with the gold program."""

    sample: ProgramSample
    text: str
    """The last text; empty if nothing was written."""
    nearness: ProgramMatch
    """Comparison with the gold program."""
    refused: int
    """Texts that the checks refused."""
    complaints: tuple[str, ...]
    """Complaints about the last text."""
    model_calls: int
    tokens: int


def order_tools(tools: Sequence[ToolDoc], order: Order, seed: str) -> list[ToolDoc]:
    """Return the tools as listed, or shuffled in the same way for the same seed."""
    ordered = list(tools)
    if order == "shuffled":
        random.Random(seed).shuffle(ordered)
    return ordered


async def write_program(
    sample: ProgramSample,
    tools: Sequence[ToolDoc],
    names: Mapping[str, str],
    policy: Policy,
    sandbox: Sandbox,
    today: str,
    budget: int,
) -> ProgramEvaluation:
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
    offered = build_functions(tools, budget)
    attempts: list[ProgramAttempt] = []
    text, complaints = "", tuple[str, ...]()
    for _ in range(REWRITES + 1):
        question = ProgramQuestion(
            request=sample.request,
            offer=offered.offer,
            today=today,
            attempts=tuple(attempts),
            unstructured=offered.unstructured,
        )
        written = (await policy.decide(question)).text
        if not written:
            break
        checked = await check_program(written, offered.offer, offered.docs, sandbox, {})
        text, complaints = checked.text, checked.complaints
        if not complaints:
            break
        attempts.append(ProgramAttempt(text, describe_complaints(complaints)))
    program_match = _compare_with_gold(sample, text, offered, lambda tool: names.get(tool, tool))
    cost = policy.cost
    return ProgramEvaluation(
        sample,
        text,
        program_match,
        len(attempts),
        complaints,
        cost.model_calls,
        cost.prompt_tokens + cost.completion_tokens,
    )


def _compare_with_gold(
    sample: ProgramSample, text: str, offered: OfferedFunctions, to_gold_name: Callable[[str], str]
) -> ProgramMatch:
    signatures = {
        one.name: FunctionSignature(to_gold_name(one.tool), one.arguments) for one in offered.offer.signatures
    }
    try:
        return match_program(sample.gold, extract_calls(text, signatures))
    except SyntaxError:
        return match_nothing(sample.gold)
