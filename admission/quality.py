"""The sixth check: whether a tool's document says enough for somebody to choose it and call it; judged in batches, kept or dropped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from admission.findings import failed, passed
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.source import Finding
from domain.tool import ToolDoc, ToolId

BATCH = 8
"""Documents that are judged together: a model says so much for the words of one prompt, and sees which are alike."""


_DOWN = "it cannot be used: its live call failed"


@dataclass(frozen=True, slots=True)
class Judgement:
    """``reasons``: why it is dropped, or what would make it better."""

    keep: bool
    reasons: tuple[str, ...] = ()


class Judge(Protocol):
    """Who judges. ``name``: for who reads the judgement."""

    @property
    def name(self) -> str: ...

    async def judge(self, tools: Sequence[ToolDoc]) -> Sequence[Judgement]:
        """A judgement for each, in order. ``FootpathError``: none can be had."""
        ...


async def judged(
    tools: Sequence[ToolDoc], judge: Judge, rules: Judge, probed: Mapping[ToolId, Finding]
) -> dict[ToolId, Finding]:
    """A finding for each tool, of one batch. ``probed``: what came of their live calls: one that cannot be used is of no quality, whatever it says.

    ``rules`` judge where ``judge`` gives no answer.
    """
    by, note = judge.name, ""
    try:
        judgements = await judge.judge(tools)
    except FootpathError as error:
        judgements, by, note = await rules.judge(tools), rules.name, f" ({judge.name} gave no judgement: {error})"
    pairs = zip(tools, judgements, strict=True)
    return {tool.id: _finding(tool, judgement, by, note, probed.get(tool.id)) for tool, judgement in pairs}


def _finding(tool: ToolDoc, judgement: Judgement, by: str, note: str, probe: Finding | None) -> Finding:
    down = probe is not None and probe.verdict == "failed"
    keep = judgement.keep and not down
    wrong = [] if judgement.keep and down else list(judgement.reasons)
    reasons = [*wrong, *([_DOWN] if down else [])]
    said = "; ".join(reasons)[:400]
    evidence: JsonObject = {"keep": keep, "reasons": list(reasons), "judge": by, "category": tool.category}
    if keep:
        told = f"its document says enough, by {by}{note}" + (f"; better: {said}" if said else "")
        return passed("quality", told, **evidence)
    if judgement.keep:
        told = f"its document says enough, by {by}{note}, but {_DOWN}"
        return failed("quality", told, "see what is said of its live call", **evidence)
    return failed(
        "quality",
        f"not to be kept, by {by}{note}: {said or 'no reason given'}",
        "correct its description and its parameters' examples, or have the document corrected",
        **evidence,
    )
