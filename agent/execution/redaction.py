"""Values of secrets out of texts, in whatever encoding they stand there."""

import base64
import html
import json
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "[secret]"
_SHORTEST_TAIL = 4


class Redactor:
    """Replaces values and their usual encodings: percent, base64, JSON, HTML and Python escapes, upper or lower case hex."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if value for form in _forms(value)}
        self._forms = sorted(forms, key=lambda form: (-len(form), form))

    def __repr__(self) -> str:
        return f"Redactor({len(self._forms)} forms)"

    def clean(self, text: str, *, cut: bool = False) -> str:
        """The text without any of them. ``cut``: it was cut off, and may end in the beginning of one."""
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        return self._without_tail(text) if cut else text

    def _without_tail(self, text: str) -> str:
        longest = max(
            (size for form in self._forms for size in range(_SHORTEST_TAIL, len(form)) if text.endswith(form[:size])),
            default=0,
        )
        return text[: len(text) - longest] + HIDDEN if longest else text


def _forms(value: str) -> set[str]:
    raw = value.encode()
    percent = {quote(value, safe=""), quote_plus(value), quote(value)}
    coded = {base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode()}
    return {
        value, *percent, *(_lower_hex(form) for form in percent), *coded, *(form.rstrip("=") for form in coded), html.escape(value),
        json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], repr(value)[1:-1], repr(raw)[2:-1], raw.hex(),
    }  # fmt: skip


def _lower_hex(text: str) -> str:
    parts = text.split("%")
    return "%".join([parts[0], *(part[:2].lower() + part[2:] for part in parts[1:])])
