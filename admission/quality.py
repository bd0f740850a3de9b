"""Sixth check: whether a tool's document says enough to choose and call it, judged in batches."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from admission.findings import report_failure, report_pass
from domain.errors import FootpathError
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from domain.tool_source import Finding
from graph.identifiers import split_words

BATCH = 8
"""Documents judged together: one prompt serves for all, and the model sees which are alike."""


_CALL_FAILED = "it cannot be used: its live call failed"


@dataclass(frozen=True, slots=True)
class QualityJudgement:
    """Judgement of one document."""

    keep: bool
    reasons: tuple[str, ...] = ()
    """Why it is dropped, or what would improve it."""


class QualityJudge(Protocol):
    """Judge of documents."""

    @property
    def name(self) -> str: ...

    async def judge(self, tools: Sequence[ToolDoc]) -> Sequence[QualityJudgement]:
        """Return a judgement for each document, in order. Raises ``FootpathError`` if none is available."""
        ...


async def judge_tools(
    tools: Sequence[ToolDoc], judge: QualityJudge, rules: QualityJudge, probed: Mapping[ToolId, Finding]
) -> dict[ToolId, Finding]:
    """Return a finding for each tool of one batch.

    ``rules`` replace ``judge`` when it fails. ``probed`` holds the findings of the live calls: a tool that cannot be used fails,
    whatever its document says.
    """
    judge_name, note = judge.name, ""
    try:
        judgements = await judge.judge(tools)
    except FootpathError as error:
        judgements, judge_name, note = (
            await rules.judge(tools),
            rules.name,
            f" ({judge.name} gave no judgement: {error})",
        )
    pairs = zip(tools, judgements, strict=True)
    return {
        tool.id: _build_finding(tool, judgement, judge_name, note, probed.get(tool.id)) for tool, judgement in pairs
    }


def _build_finding(
    tool: ToolDoc, judgement: QualityJudgement, judge_name: str, note: str, probe: Finding | None
) -> Finding:
    call_failed = probe is not None and probe.verdict == "failed"
    keep = judgement.keep and not call_failed
    document_reasons = [] if judgement.keep and call_failed else list(judgement.reasons)
    reasons = [*document_reasons, *([_CALL_FAILED] if call_failed else [])]
    reason_text = "; ".join(reasons)[:400]
    evidence: JsonObject = {"keep": keep, "reasons": list(reasons), "judge": judge_name, "category": tool.category}
    if keep:
        message = f"its document says enough, by {judge_name}{note}" + (
            f"; better: {reason_text}" if reason_text else ""
        )
        return report_pass("quality", message, **evidence)
    if judgement.keep:
        message = f"its document says enough, by {judge_name}{note}, but {_CALL_FAILED}"
        return report_failure("quality", message, "see what is said of its live call", **evidence)
    return report_failure(
        "quality",
        f"not to be kept, by {judge_name}{note}: {reason_text or 'no reason given'}",
        "correct its description and its parameters' examples, or have the document corrected",
        **evidence,
    )


_WORD = re.compile(r"[^\W\d_]+")
_DENSE_LETTERS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Letters of scripts written without spaces, or with few letters a word."""
_OPAQUE = re.compile(r"^[\W\d_]*$|[0-9a-f]{12,}|^[a-z]{0,2}\d{2,}$", re.IGNORECASE)
_METHOD_AND_PATH = re.compile(r"^[A-Z]+ /")
_FEW_WORDS, _ENOUGH_WORDS = 3, 8
_MAX_REPEATED = 3
_MAX_UNDESCRIBED = 0.5


class RulesJudge:
    """Judge that applies rules and needs no model."""

    name = "rules"

    def __init__(self, others: Sequence[ToolDoc] = ()) -> None:
        """Count the descriptions of the source's tools, to find repeated ones."""
        self._texts = Counter(_normalize_text(tool.description) for tool in others)

    async def judge(self, tools: Sequence[ToolDoc]) -> Sequence[QualityJudgement]:
        """Return a judgement for each document, in order."""
        return [self._judge_tool(tool) for tool in tools]

    def _judge_tool(self, tool: ToolDoc) -> QualityJudgement:
        defects = list(self._find_defects(tool))
        return QualityJudgement(not defects, tuple(defects) or tuple(_suggest_improvements(tool)))

    def _find_defects(self, tool: ToolDoc) -> Iterator[str]:
        """Yield the reasons to drop a tool."""
        word_count, readable = _count_words(_extract_own_words(tool)), _is_readable(tool.api)
        text = _normalize_text(tool.description)
        if tool.description.startswith("Deprecated."):
            yield "its document says that it is out of use"
        if word_count == 0 and (not readable or _count_words(tool.description) == 0):
            yield "nothing says what it does: no description beside its name"
        elif word_count < _FEW_WORDS and not readable:
            yield "neither its name nor its description says what it does"
        if text and self._texts[text] >= _MAX_REPEATED:
            yield "its description is that of other tools, too, so that nothing tells them apart"
        elif text and text == _normalize_text(tool.toolset_description) and not readable:
            yield "its description is that of its tool set"
        unexplained = [
            parameter.name
            for parameter in tool.required
            if not _is_explained(parameter.name, parameter.description, parameter.enum, parameter.example)
        ]
        if tool.required and len(unexplained) > _MAX_UNDESCRIBED * len(tool.required):
            yield f"nothing says what to give for {', '.join(unexplained[:3])}"


def _suggest_improvements(tool: ToolDoc) -> Iterator[str]:
    if _count_words(_extract_own_words(tool)) < _ENOUGH_WORDS:
        yield "say in a sentence what it gives, and of what"
    if not (tool.response_schema or tool.example_response or tool.learnt_response):
        yield "nothing says what it answers"


def _extract_own_words(tool: ToolDoc) -> str:
    """Return the words of a description that are not in the names."""
    name_words = {word.casefold() for word in (*split_words(tool.api), *split_words(tool.toolset))}
    return " ".join(word for word in _WORD.findall(tool.description) if word.casefold() not in name_words)


def _count_words(text: str) -> int:
    """Count the words; in scripts without spaces, two letters count as one word."""
    dense = len(_DENSE_LETTERS.findall(text))
    return dense // 2 + len(_WORD.findall(_DENSE_LETTERS.sub(" ", text)))


def _is_readable(name: str) -> bool:
    """Return whether a name consists of words rather than of a path or a number."""
    return (
        not _OPAQUE.search(name)
        and not _METHOD_AND_PATH.match(name)
        and any(len(word) > 2 or _DENSE_LETTERS.search(word) for word in _WORD.findall(name))
    )


def _is_explained(name: str, description: str, enum: Sequence[object], example: object) -> bool:
    return bool(description.strip() or enum or example is not None) or any(len(word) > 1 for word in split_words(name))


def _normalize_text(text: str) -> str:
    return " ".join(text.casefold().split())
