"""Rendering of a tool's answer as text, and classification of protocol errors as call outcomes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from agent.execution.http.outcomes import classify_status, is_local_failure
from agent.execution.mcp.connection import McpExchange
from domain.plan import CallOutcome
from graph.lenient_json import MAX_DEPTH, is_text_too_deep

_INVALID_CODES = frozenset({-32_700, -32_600, -32_602})
_METHOD_NOT_FOUND = -32_601
_UNKNOWN_TOOL_MESSAGE = "unknown tool"
_COMPARED_DEPTH = 2
"""Levels of a structured answer at which a text may repeat a whole object or list.

The SDK writes ``{"result": [item, …]}`` as one text for each item.
"""


@dataclass(frozen=True, slots=True)
class AnswerText:
    """A tool's answer as text."""

    text: str
    notes: tuple[str, ...] = ()
    """Remarks on parts that are not text, such as images."""
    unusable: str = ""
    """Reason why the answer cannot be read; empty if it can."""


def render_answer(content: list[Any], structured: object, limit: int) -> AnswerText:
    """Render an answer as text: its structured form if there is one, else its texts, separated by newlines.

    Texts that do not merely repeat the structured form are added to it under the key ``text``, or a free one like it.
    """
    parts = [cast(dict[str, Any], part) for part in content if isinstance(part, dict)]
    notes = tuple(note for part in parts if (note := _describe_part(part)))[:20]
    texts = list(_iterate_part_texts(parts))
    text = "\n".join(texts) if structured is None else json.dumps(structured, ensure_ascii=False)
    if text.lstrip()[:1] in ("{", "[") and is_text_too_deep(text):
        return AnswerText("", notes, f"the answer is nested deeper than {MAX_DEPTH} levels, not kept")
    if structured is not None and (other_texts := _find_other_texts(structured, texts)):
        text = json.dumps(_add_text(structured, "\n".join(other_texts)), ensure_ascii=False)
    if len(text) > limit:
        return AnswerText(text[:limit], (*notes, f"cut at {limit} characters"))
    return AnswerText(text, notes)


def _add_text(structured: object, text: str) -> dict[str, object]:
    """Add a text to the structured form under a key that it does not have.

    It is a field because programs read fields and notes are truncated. The other fields stay where the tool's output
    schema puts them. A value that is not an object goes under ``result``, as the SDK wraps it.
    """
    fields = cast(dict[str, object], structured) if isinstance(structured, dict) else {"result": structured}
    key = "text"
    while key in fields:
        key = f"content_{key}"
    return {**fields, key: text}


def _find_other_texts(structured: object, texts: list[str]) -> list[str]:
    """Return the texts that do not repeat a part of the structured form.

    A text repeats it if it is, in the SDK's notation, the form itself, a value of it, or an item of a list in it.
    """
    if not texts:
        return []
    canonical_values = {_to_canonical_text(value) for value in _iterate_values(structured)}
    if not {_to_canonical_text("\n".join(texts)), _to_canonical_text(_parse_json("\n".join(texts)))}.isdisjoint(
        canonical_values
    ):
        return []
    return [
        text
        for text in texts
        if text.strip()
        and {_to_canonical_text(text), _to_canonical_text(_parse_json(text))}.isdisjoint(canonical_values)
    ]


def _iterate_values(structured: object) -> Iterator[object]:
    """Yield the value, the values inside it two levels down, and the scalars at any depth.

    So each part is serialized at most three times, however deep the value is.
    """
    level: list[object] = [structured]
    depth = 0
    while level:
        yield from (value for value in level if depth <= _COMPARED_DEPTH or not isinstance(value, (dict, list)))
        outer, level, depth = level, [], depth + 1
        for value in outer:
            if isinstance(value, dict):
                level += cast(dict[str, object], value).values()
            elif isinstance(value, list):
                level += cast(list[object], value)


def _parse_json(text: str) -> object:
    """Parse a text that is JSON; return any other text unchanged."""
    try:
        return text if is_text_too_deep(text) else json.loads(text)
    except ValueError:
        return text


def _to_canonical_text(value: object) -> str:
    """Return a text that is the same for equal values: keys sorted, strings stripped."""
    return json.dumps(value.strip() if isinstance(value, str) else value, sort_keys=True)


def _iterate_part_texts(parts: list[dict[str, Any]]) -> Iterator[str]:
    for part in parts:
        text = part.get("text") if part.get("type") == "text" else _get_embedded_resource(part).get("text")
        if isinstance(text, str):
            yield text


def _get_embedded_resource(part: dict[str, Any]) -> dict[str, Any]:
    resource = part.get("resource") if part.get("type") == "resource" else None
    return cast(dict[str, Any], resource) if isinstance(resource, dict) else {}


def _describe_part(part: dict[str, Any]) -> str:
    match part.get("type"):
        case "image" | "audio" as kind:
            return f"an {kind} ({str(part.get('mimeType'))[:100]}), not kept"
        case "resource" if not isinstance(_get_embedded_resource(part).get("text"), str):
            return f"a file ({str(_get_embedded_resource(part).get('uri'))[:200]}), not kept"
        case "resource_link":
            return f"it names {str(part.get('name'))[:100]} at {str(part.get('uri'))[:200]}"
        case _:
            return ""


def classify_error_code(code: int, message: str, *, safe: bool) -> CallOutcome:
    """Classify an error that the server itself returned, by its JSON-RPC code."""
    if code == _METHOD_NOT_FOUND or (code in _INVALID_CODES and _UNKNOWN_TOOL_MESSAGE in message.lower()):
        return "gone"
    if code in _INVALID_CODES:
        return "caller_fault"
    return "transient" if safe else "unknown"


def classify_unanswered_call(exchange: McpExchange, *, keyed: bool, safe: bool) -> CallOutcome:
    """Classify a call that got no answer by what its exchange recorded."""
    status = exchange.status
    if status is not None and not 200 <= status < 300:
        return classify_status(status, keyed=keyed, safe=safe, has_values=False)
    if not exchange.sent and exchange.error is not None and is_local_failure(exchange.error):
        return "unreached"
    return "unknown" if exchange.sent and not safe else "transient"
