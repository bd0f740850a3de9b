"""Detection of response bodies that are no answers: errors in a 200, binary data, empty structures."""

import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic.types import JsonValue

from agent.text import clean_text
from domain.plan import CallOutcome
from domain.trajectory import RecordedOutcome
from graph.lenient_json import read_value
from graph.outcomes import classify_error

_MAX_FIELDS = 400
_MESSAGE_KEYS = ("message", "error_message", "errormessage", "error_description", "msg", "detail", "details", "description", "reason", "title", "info", "error", "errors", "code", "type")  # fmt: skip
"""Keys that hold an error's message, the most informative first."""
_ERROR_KEYS = frozenset(_MESSAGE_KEYS) | frozenset(
    {"status", "statuscode", "status_code", "status_message", "cod", "errorcode", "error_code", "errno", "success", "ok", "result", "timestamp",
     "time", "date", "path", "url", "method", "help", "link", "links", "documentation", "documentation_url", "docs", "instance", "trace",
     "traceid", "trace_id", "requestid", "request_id", "version", "meta", "messages", "is_error", "iserror", "failed", "http_code", "httpstatus"}
)  # fmt: skip
"""Keys of an error object. A body with any other key holds data on the request."""
_ERROR_STATUS_TEXT = re.compile(
    r"\W*(?:error|err|fail|ko\b|nok\b|not ok|bad|invalid|unauthori[sz]ed|forbidden|not[ _]found|false\b)", re.IGNORECASE
)
_ERROR_WORDS = re.compile(
    r"\b(?:not subscribed|too many requests|rate[ -]?limit|quota|unauthori[sz]ed|not authori[sz]ed|forbidden|access denied"
    r"|(?:api|app|access)[ _-]?key|not found|(?:does not|doesn't|do not|don't|did not) exist|no such|internal server error|service unavailable"
    r"|bad (?:request|gateway)|timed? ?out|(?:is|are) required|(?:missing|invalid|unknown|unsupported|incorrect|malformed)\b"
    r"|went wrong|an? (?:unexpected )?(?:error|exception)|failed|(?:can(?:not|'t)|could not|couldn't|unable to))",
    re.IGNORECASE,
)
"""Words that mark a JSON body with nothing but a message as an error."""
_PLAIN_TEXT_ERROR = re.compile(
    r"\W*(?:error\b|exception\b|traceback \(most|fatal\b|unauthori[sz]ed\b|forbidden\b|access denied|not found\b|bad (?:request|gateway)\b"
    r"|internal server error|service unavailable|too many requests|invalid\b.{0,20}(?:api|key|token|request|parameter)|(?:4[0-2]\d|50\d)\s*[-:]\s*[a-z]{3}|missing |(?:\w+ ){1,3}not found\W*$)",
    re.IGNORECASE,
)
_MAX_ERROR_TEXT_LENGTH = 300
_NOT_FOUND = re.compile(
    r"not found|no such|(?:does not|doesn't|do not|don't) exist|no (?:results|data|records)", re.IGNORECASE
)

_METADATA_NAME = re.compile(
    r"(?:^|[._])(?:page|pages|per_?page|limit|offset|status|success|ok|code|message|took|version|total_?pages)$", re.I
)


def find_error_message(body: str) -> str | None:
    """Return the error that a body reports, on one line; None if the body is an answer.

    A body is an error if it reports one (``error``, ``success: false``, ``status: error``, a status code of 400 or
    more, a message in the words of errors) and holds nothing else. A body with data beside its errors is an answer.
    """
    value = read_value(body) if body.lstrip()[:1] in ("{", "[") else None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        return _find_error_in_object(value)
    text = body.strip().strip('"')
    return (
        clean_text(text)
        if value is None and len(text) <= _MAX_ERROR_TEXT_LENGTH and _PLAIN_TEXT_ERROR.match(text)
        else None
    )


def extract_error_text(body: str) -> str:
    """Return the message of a body known to be an error, on one line; empty if it may be a page or data."""
    value = read_value(body) if body.lstrip()[:1] in ("{", "[") else None
    if isinstance(value, list) and value:
        value = value[0]
    if isinstance(value, dict):
        return _select_message({key.lower(): item for key, item in value.items()})
    return clean_text(body) if value is None and len(body) <= _MAX_ERROR_TEXT_LENGTH and "<" not in body else ""


def classify_error_message(message: str) -> CallOutcome:
    """Classify a call by its error message; a missing object is the caller's fault and no evidence against the tool."""
    return (
        "caller_fault"
        if _NOT_FOUND.search(message) or classify_error(message) is RecordedOutcome.CALLER_FAULT
        else "transient"
    )


def is_binary_text(text: str) -> bool:
    """Return whether a text is decoded binary data.

    It is if its first 1,000 characters hold a NUL, or if more than a twentieth of them are not printable.
    """
    head = text[:1000]
    unprintable_count = sum(1 for char in head if char == "\ufffd" or (ord(char) < 32 and char not in "\t\n\r\f\x1b"))
    return "\0" in head or unprintable_count * 20 > len(head)


def _find_error_in_object(value: Mapping[str, JsonValue]) -> str | None:
    fields = {key.lower(): item for key, item in value.items() if item not in (None, "", [], {})}
    if not fields or any(key not in _ERROR_KEYS and item is not False for key, item in fields.items()):
        return None
    message = _select_message(fields)
    if _declares_error(fields) or (
        message and set(fields) <= {*_MESSAGE_KEYS, "messages"} and _ERROR_WORDS.search(message)
    ):
        return message or clean_text(str(dict(value)))
    return None


def _declares_error(fields: Mapping[str, JsonValue]) -> bool:
    """Return whether the fields of an object declare an error."""
    if any(_is_error_value(fields.get(key)) for key in ("error", "errors", "is_error", "iserror", "failed")):
        return True
    if any(str(fields[key]).lower() in ("false", "0") for key in ("success", "ok") if key in fields):
        return True
    codes = (fields.get(key) for key in ("status", "statuscode", "status_code", "cod", "code", "error_code", "errorcode", "http_code", "httpstatus"))  # fmt: skip
    return any(_is_error_code(code) for code in codes) or bool(_ERROR_STATUS_TEXT.match(str(fields.get("status", ""))))


def _is_error_value(value: JsonValue) -> bool:
    return value not in (None, False, 0, "", "0", "false", "none", "None", "null", "no", "No", "ok", "OK", [], {})


def _is_error_code(value: JsonValue) -> bool:
    return not isinstance(value, bool) and bool(re.fullmatch(r"[45]\d\d", str(value)))


def _select_message(fields: Mapping[str, JsonValue]) -> str:
    for key in _MESSAGE_KEYS:
        if key in fields and (words := " ".join(_collect_texts(fields[key]))):
            return clean_text(words)
    return ""


def _collect_texts(value: JsonValue, depth: int = 0) -> Iterable[str]:
    """Yield the texts of an error, whatever objects and lists wrap them."""
    match value:
        case str():
            yield value
        case dict() if depth < 3:
            inner = {key.lower(): item for key, item in value.items()}
            parts = [inner[key] for key in _MESSAGE_KEYS if key in inner] or list(inner.values())
            for item in parts[:3]:
                yield from _collect_texts(item, depth + 1)
        case list() if depth < 3:
            for item in value[:3]:
                yield from _collect_texts(item, depth + 1)
        case int() | float() if depth and not isinstance(value, bool):
            yield str(value)
        case _:
            return


def is_empty_response(response: str) -> bool:
    """Return whether a JSON response holds no data: only empty lists and objects, nulls and zeros.

    Paging and status fields are ignored in an object with an empty list.
    """
    value = read_value(response)
    if not isinstance(value, (dict, list)):
        return False
    found_values = list(iterate_found_values(value if isinstance(value, dict) else {"": value}, ""))
    if isinstance(value, dict) and any(inner == [] for inner in value.values()):
        found_values = [(name, leaf) for name, leaf in found_values if not _METADATA_NAME.search(name)]
    return all(leaf in (0, False) for _, leaf in found_values)


def iterate_found_values(value: JsonValue, prefix: str, depth: int = 0) -> Iterator[tuple[str, JsonValue]]:
    """Yield the non-empty scalars and lists of scalars in a value, each with its dotted path.

    At most ``_MAX_FIELDS`` fields of an object and three items of a list are read.
    """
    if isinstance(value, dict) and depth < 6:
        for _, (key, inner) in zip(range(_MAX_FIELDS), value.items(), strict=False):
            yield from iterate_found_values(
                inner, f"{prefix}{key}." if isinstance(inner, dict) else f"{prefix}{key}", depth + 1
            )
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for item in value[:3]:
            yield from iterate_found_values(item, f"{prefix}.", depth + 1)
    elif value not in (None, "", []) and not isinstance(value, dict):
        yield prefix.rstrip("."), value
