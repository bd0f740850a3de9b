"""Classifies the outcome of recorded calls: by ToolBench's codes, by flags, and by the text of an error."""

import re
from functools import lru_cache

from domain.trajectory import RecordedOutcome

_CODES = {
    0: RecordedOutcome.OK,
    1: RecordedOutcome.CALLER_FAULT,  # no such function
    2: RecordedOutcome.CALLER_FAULT,  # bad input
    5: RecordedOutcome.FAILED,  # timeout
    6: RecordedOutcome.FAILED,  # 404
    7: RecordedOutcome.CALLER_FAULT,  # not subscribed: a key was sent and refused
    8: RecordedOutcome.CALLER_FAULT,  # unauthorised: the tool wants a key of its own
    9: RecordedOutcome.CALLER_FAULT,  # too many requests, by one key
    10: RecordedOutcome.CALLER_FAULT,  # rate limit of one key
    11: RecordedOutcome.FAILED,  # the response held an error message
    12: RecordedOutcome.FAILED,  # the request could not be sent or came back broken
}
"""Outcomes by the ``observation_code`` of ToolBench's official search trees.

Codes 3 (final answer) and 4 (give up) end a branch and are not calls.
"""

_UNKNOWN = RecordedOutcome.UNKNOWN
TEXT_CAP = 500
"""Characters of a response that are examined; error messages are at the beginning."""

_KEY_LIMIT_PATTERN = re.compile(
    r"not subscribed|quota|rate[ -]?limit|limit (?:is )?(?:reached|exceeded)|too many requests|exceeded the",
    re.IGNORECASE,
)
"""Phrases about the limits of one API key. They say nothing about the tool for other users, whose keys differ."""

_TOOL_FAULT_PATTERN = re.compile(
    r"timed? ?out|unavailable|internal (?:server )?error|server (?:problem|error)|license expire|suspended"
    r"|unexpected token|provider_error|bad gateway|connection|maintenance",
    re.IGNORECASE,
)
"""Phrases about failures of the tool itself.

They are tested first, since such errors often also mention the arguments.
"""

_KEY_WORDS = r"(?:api[\s_-]?key|apikey|app[\s_-]?id|application id|token|secret|credentials?|password|authorization|session ?info)"
_ARGUMENT_WORDS = r"(?:param|argument|field|input|quer(?:y|ies)|value|url|uri|date|format|id|uuid|guid|name|email|address|code|symbol)"
_CALLER_FAULT_PATTERN = re.compile(
    "|".join(
        (
            # A key that is missing or wrong.
            _KEY_WORDS
            + r"\b.{0,60}\b(?:required|missing|invalid|not valid|blank|empty|passed|provided|specified|incorrect|wrong|must)",
            r"(?:required|missing|invalid|not (?:provided|supplied)|no|provide|valid|wrong|incorrect|your)\W+(?:\w+\W+){0,3}?"
            + _KEY_WORDS,
            r"unauthori[sz]ed|not authori[sz]ed|header_required|(?:empty|missing)_(?:token|secret|key)|key is invalid",
            # Arguments that are missing.
            r"\b(?:is|are|be|were|was|field)[\s_]required|required (?:input |query |request )?(?:param|field|argument|property)",
            r"missing\b.{0,40}"
            + _ARGUMENT_WORDS
            + r"|missing or invalid|insufficient arguments|cannot be (?:empty|blank|null)",
            r"(?:can(?:'|`|no)?t|must not|should not|may not) be (?:empty|blank|null|in (?:the )?past)|not be empty",
            r"please (?:provide|specify|enter|check your input|supply|pass|use a valid)|must (?:provide|specify|supply|contain)",
            # Arguments that are wrong.
            r"\binvalid\b|_invalid\b|\binvalid_|\b(?:is|are|was) not (?:a )?(?:valid|recogni[sz]ed|supported)|not a valid",
            r"validation|unprocessable|bad[\s_]request|malformed|incorrect|illegal|\bunknown (?:\w+ )?"
            + _ARGUMENT_WORDS
            + r"|unknown measure|unsupported",
            r"(?:must|should) (?:be|have|match)|out of range|does not match|not[_ ]match|(?:is|are|was) wrong",
            r"expected (?:a|an|one|type|string|int)|could not (?:parse|convert)|failed to parse",
        )
    ),
    re.IGNORECASE | re.DOTALL,
)
"""Phrases about missing or wrong arguments, or missing or wrong keys."""


def classify_code(code: object) -> RecordedOutcome:
    """Return the outcome for ToolBench's ``observation_code``; unknown for anything else, including None."""
    return _CODES.get(code, _UNKNOWN) if isinstance(code, int) else _UNKNOWN


def classify_flag(ok: bool | None) -> RecordedOutcome:
    """Return the outcome for a trajectory's ``ok`` flag, which is trusted: false is a known failure."""
    if ok is None:
        return RecordedOutcome.UNKNOWN
    return RecordedOutcome.OK if ok else RecordedOutcome.FAILED


def classify_error(text: str) -> RecordedOutcome:
    """Return ``CALLER_FAULT`` if an error blames the arguments or the caller's key, else ``FAILED``.

    "Not found" is a failure: it does not say whether the argument or the tool was wrong.
    """
    return _classify_text(text[:TEXT_CAP])


def is_key_limit(text: str) -> bool:
    """Return whether an error is about the limits of one key: its quota, rate or subscription."""
    return bool(_KEY_LIMIT_PATTERN.search(text[:TEXT_CAP]))


@lru_cache(maxsize=8_192)
def _classify_text(head: str) -> RecordedOutcome:
    if is_key_limit(head):
        return RecordedOutcome.CALLER_FAULT
    if _TOOL_FAULT_PATTERN.search(head):
        return RecordedOutcome.FAILED
    return RecordedOutcome.CALLER_FAULT if _CALLER_FAULT_PATTERN.search(head) else RecordedOutcome.FAILED


def classify_recorded(kind: str, error: str, response: str) -> RecordedOutcome:
    """Return the outcome of a recorded call: ``ok`` and ``empty`` are successes, errors are judged by their text."""
    if kind in ("ok", "empty"):
        return RecordedOutcome.OK
    return classify_error(f"{error}\n{response}")
