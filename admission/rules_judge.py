"""Quality judgements by rules for any language: words beside the name, readable names, repeated texts."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from admission.quality import Judgement
from domain.tool import ToolDoc
from graph.identifiers import words

_WORD = re.compile(r"[^\W\d_]+")
_DENSE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Letters of scripts written without spaces, or with few letters a word."""
_OPAQUE = re.compile(r"^[\W\d_]*$|[0-9a-f]{12,}|^[a-z]{0,2}\d{2,}$", re.IGNORECASE)
_PLACE = re.compile(r"^[A-Z]+ /")
_FEW, _ENOUGH = 3, 8
_REPEATED = 3
_DESCRIBED = 0.5


class RulesJudge:
    """Judge that applies rules and needs no model."""

    name = "rules"

    def __init__(self, others: Sequence[ToolDoc] = ()) -> None:
        """Count the descriptions of the source's tools, to find repeated ones."""
        self._texts = Counter(_plain(tool.description) for tool in others)

    async def judge(self, tools: Sequence[ToolDoc]) -> Sequence[Judgement]:
        """Return a judgement for each document, in order."""
        return [self._judgement(tool) for tool in tools]

    def _judgement(self, tool: ToolDoc) -> Judgement:
        dropped = list(self._dropped(tool))
        return Judgement(not dropped, tuple(dropped) or tuple(_better(tool)))

    def _dropped(self, tool: ToolDoc) -> Iterator[str]:
        """Yield the reasons to drop a tool."""
        said, readable = _size(_own(tool)), _readable(tool.api)
        text = _plain(tool.description)
        if tool.description.startswith("Deprecated."):
            yield "its document says that it is out of use"
        if said == 0 and (not readable or _size(tool.description) == 0):
            yield "nothing says what it does: no description beside its name"
        elif said < _FEW and not readable:
            yield "neither its name nor its description says what it does"
        if text and self._texts[text] >= _REPEATED:
            yield "its description is that of other tools, too, so that nothing tells them apart"
        elif text and text == _plain(tool.toolset_description) and not readable:
            yield "its description is that of its tool set"
        bare = [one.name for one in tool.required if not _told(one.name, one.description, one.enum, one.example)]
        if tool.required and len(bare) > _DESCRIBED * len(tool.required):
            yield f"nothing says what to give for {', '.join(bare[:3])}"


def _better(tool: ToolDoc) -> Iterator[str]:
    if _size(_own(tool)) < _ENOUGH:
        yield "say in a sentence what it gives, and of what"
    if not (tool.response_schema or tool.example_response or tool.learnt_response):
        yield "nothing says what it answers"


def _own(tool: ToolDoc) -> str:
    """Return the words of a description that are not in the names."""
    named = {word.casefold() for word in (*words(tool.api), *words(tool.toolset))}
    return " ".join(word for word in _WORD.findall(tool.description) if word.casefold() not in named)


def _size(text: str) -> int:
    """Count the words; in scripts without spaces, two letters count as one word."""
    dense = len(_DENSE.findall(text))
    return dense // 2 + len(_WORD.findall(_DENSE.sub(" ", text)))


def _readable(name: str) -> bool:
    """Return whether a name consists of words rather than of a path or a number."""
    return (
        not _OPAQUE.search(name)
        and not _PLACE.match(name)
        and any(len(word) > 2 or _DENSE.search(word) for word in _WORD.findall(name))
    )


def _told(name: str, description: str, enum: Sequence[object], example: object) -> bool:
    return bool(description.strip() or enum or example is not None) or any(len(word) > 1 for word in words(name))


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
