"""SoAyEval's questions out of the playground's benchmark, and their gold as triplets."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from domain.errors import UsageError
from domain.program import Program
from domain.source_text import parse_source
from domain.tool import ToolDoc, ToolId
from evaluation.evaluation_cases import ExpectedValues
from evaluation.soay import SoayQuestion
from playground.soay.application import SCENARIOS
from playground.soay.benchmark import Built
from synthesis.triplets import build_triplet, write_triplets


def questions_of(built: Sequence[Built], docs: Mapping[ToolId, ToolDoc]) -> list[SoayQuestion]:
    """The questions with their gold programs over a store's tools.

    Raises:
        UsageError: the store lacks a function of theirs.
    """
    tools = {doc.api: tool for tool, doc in docs.items()}
    return [_question(one, tools) for one in built]


def write_gold(path: Path, built: Sequence[Built]) -> int:
    """The questions with their gold solutions, for training; how many there are."""
    return write_triplets(
        path, (build_triplet(one.request, functions_of(one), one.template.program, one.values) for one in built)
    )


def functions_of(built: Built) -> list[str]:
    """The operations that a gold program calls, each once, in the order in which its text has them."""
    known = {getattr(route, "operation_id", "") for route in SCENARIOS[built.scenario].router.routes}
    calls = parse_source(built.template.program).calls
    return list(dict.fromkeys(call.name for call in calls if call.name in known))


def _question(one: Built, tools: Mapping[str, ToolId]) -> SoayQuestion:
    functions = functions_of(one)
    if lacking := [name for name in functions if name not in tools]:
        raise UsageError(f"the store has no {', '.join(lacking)}; build it from the scenario's OpenAPI document")
    gold = one.gold
    return SoayQuestion(
        id=one.id, template=one.template.number, place=one.place, hops=one.template.hops, request=one.request,
        program=Program(text=one.template.program, tools={name: tools[name] for name in functions}),
        values=dict(one.values), expect=ExpectedValues(numbers=gold.numbers, texts=gold.texts), others=gold.others,
    )  # fmt: skip
