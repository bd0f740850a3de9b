"""Sixth check: whether a tool's document says enough to choose and call it, judged in batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from admission.findings import failed, passed
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.source import Finding
from domain.tool import ToolDoc, ToolId

BATCH = 8
"""Documents judged together: one prompt serves for all, and the model sees which are alike."""


_DOWN = "it cannot be used: its live call failed"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of one document."""

    keep: bool
    reasons: tuple[str, ...] = ()
    """Why it is dropped, or what would improve it."""


class Judge(Protocol):
    """Judge of documents."""

    @property
    def name(self) -> str: ...

    async def judge(self, tools: Sequence[ToolDoc]) -> Sequence[Judgement]:
        """Return a judgement for each document, in order. Raises ``FootpathError`` if none is available."""
        ...


async def judged(
    tools: Sequence[ToolDoc], judge: Judge, rules: Judge, probed: Mapping[ToolId, Finding]
) -> dict[ToolId, Finding]:
    """Return a finding for each tool of one batch.

    ``rules`` replace ``judge`` when it fails. ``probed`` holds the findings of the live calls: a tool that cannot be used fails,
    whatever its document says.
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
