"""Removal of secret values, in all usual encodings, from texts and from the log records of HTTP libraries."""

import base64
import html
import json
import logging
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from urllib.parse import quote, quote_plus

REDACTED = "[secret]"
_TOKEN_PATTERN = re.compile(r"(?=[a-z_+=~]*\d)(?=[\d_+=~]*[a-z])[a-z0-9_+=~]{20,}", re.IGNORECASE)
"""Runs of letters with digits too long for a word: keys, tokens, hashes.

The parts of URLs and titles are shorter between their separators.
"""
_CARD_PATTERN = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_LUHN_MODULUS = 10


def contains_secret(text: str) -> bool:
    """Return whether a text seems to hold a token or a card number, judged by form; passwords are not recognized."""
    return bool(_TOKEN_PATTERN.search(text)) or any(
        _is_card_number(re.sub(r"\D", "", candidate[0])) for candidate in _CARD_PATTERN.finditer(text)
    )


def _is_card_number(digits: str) -> bool:
    """Return whether the last digit is the check digit of ISO/IEC 7812 (Luhn's algorithm)."""
    doubled = (int(digit) * (1 + position % 2) for position, digit in enumerate(reversed(digits)))
    return sum(product // _LUHN_MODULUS + product % _LUHN_MODULUS for product in doubled) % _LUHN_MODULUS == 0


_MIN_PARTIAL_LENGTH = 4


class Redactor:
    """Replaces secret values and their usual encodings in texts.

    The encodings are percent-encoding with upper- or lower-case digits, base64, hex, and the escapes of JSON, HTML and
    Python.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if value for form in _list_encoded_forms(value)}
        self._forms = sorted(forms, key=lambda form: (-len(form), form))

    def __repr__(self) -> str:
        return f"Redactor({len(self._forms)} forms)"

    def redact(self, text: str, *, truncated: bool = False) -> str:
        """Return the text with the values replaced.

        With ``truncated``, the text was truncated, and the beginning of a value at its end is replaced too.
        """
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return self._strip_partial_tail(text) if truncated else text

    def _strip_partial_tail(self, text: str) -> str:
        longest = max(
            (
                size
                for form in self._forms
                for size in range(_MIN_PARTIAL_LENGTH, len(form))
                if text.endswith(form[:size])
            ),
            default=0,
        )
        return text[: len(text) - longest] + REDACTED if longest else text


def _list_encoded_forms(value: str) -> set[str]:
    raw = value.encode()
    percent = {quote(value, safe=""), quote_plus(value), quote(value)}
    coded = {base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode()}
    return {
        value, *percent, *(_lowercase_hex(form) for form in percent), *coded, *(form.rstrip("=") for form in coded), html.escape(value),
        json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1], repr(raw)[2:-1], raw.hex(),
    }  # fmt: skip


def _lowercase_hex(text: str) -> str:
    parts = text.split("%")
    return "%".join([parts[0], *(part[:2].lower() + part[2:] for part in parts[1:])])


_REDACTED_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks",
            "mcp.client.streamable_http", "client", "")  # fmt: skip
"""Loggers that write URLs, headers and messages; the MCP library also uses the root logger.

Each is listed because a parent's filters do not see the records of its children.
"""

_current_redactor: ContextVar[Redactor | None] = ContextVar("redactor", default=None)


@contextmanager
def redact_logs(redactor: Redactor) -> Generator[None]:
    """Redact the log records that HTTP libraries write in this task, and in tasks it starts, inside the context."""
    _install_filter()
    token = _current_redactor.set(redactor)
    try:
        yield
    finally:
        _current_redactor.reset(token)


class _RedactingFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        redactor = _current_redactor.get()
        if redactor is not None:
            record.msg, record.args = redactor.redact(record.getMessage()), ()
            record.exc_info = record.exc_text = None  # the traceback of a parse error shows the data
        return True


_FILTER = _RedactingFilter()


def _install_filter() -> None:
    for name in _REDACTED_LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)  # the same filter is added once
