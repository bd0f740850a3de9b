"""Removal of secret values, in all usual encodings, from texts and from the log records of HTTP libraries."""

import base64
import html
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "[secret]"
_TOKEN_PATTERN = re.compile(r"(?=[a-z_+=~]*\d)(?=[\d_+=~]*[a-z])[a-z0-9_+=~]{20,}", re.IGNORECASE)
"""Runs of letters with digits too long for a word: keys, tokens, hashes.

The parts of URLs and titles are shorter between their separators.
"""
_CARD_PATTERN = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_LUHN_MODULUS = 10


def looks_secret(text: str) -> bool:
    """Return whether a text seems to hold a token or a card number, judged by form; passwords are not recognized."""
    return bool(_TOKEN_PATTERN.search(text)) or any(
        _is_card(re.sub(r"\D", "", hit[0])) for hit in _CARD_PATTERN.finditer(text)
    )


def _is_card(digits: str) -> bool:
    """Return whether the last digit is the check digit of ISO/IEC 7812 (Luhn's algorithm)."""
    doubled = (int(one) * (1 + at % 2) for at, one in enumerate(reversed(digits)))
    return sum(one // _LUHN_MODULUS + one % _LUHN_MODULUS for one in doubled) % _LUHN_MODULUS == 0


_MIN_TAIL = 4


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

    def redact(self, text: str, *, cut: bool = False) -> str:
        """Return the text with the values replaced.

        With ``cut``, the text was truncated, and the beginning of a value at its end is replaced too.
        """
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return self._strip_partial_tail(text) if cut else text

    def _strip_partial_tail(self, text: str) -> str:
        longest = max(
            (size for form in self._forms for size in range(_MIN_TAIL, len(form)) if text.endswith(form[:size])),
            default=0,
        )
        return text[: len(text) - longest] + HIDDEN if longest else text


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
