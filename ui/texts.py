"""Strangers' texts on the page: of tools, answers and models. They are shown as text and code, never as markup."""

import json
import re

from pydantic import JsonValue

from ui.language import say

_LONGEST = 20_000
_TOO_LONG = 400_000
"""What is longer is not read as JSON: only its beginning is shown."""
_LINKS = re.compile(r":(?=//)|@|www(?=\.)", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Controls, signs that turn the direction of what follows, halves of characters, tags."""
_BY_API = re.compile(r" \(by the API: (?:GET|PUT|POST|PATCH|DELETE) /api/[^\s()]*\)")
_PLAIN = re.compile(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)*")


def unmarked(text: str) -> str:
    """Text that Markdown shows as it is. Addresses, which would become links however they are escaped, are parted by a joiner that is not seen."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    plain = _LINKS.sub(lambda found: f"{found[0]}\u2060", plain)
    return "".join(f"\\{character}" if character in "\\`*_{}[]()<>#+-.!|~$:&" else character for character in plain)


def visible(text: str) -> str:
    """Text as it stands, but for what would not be seen or would put the rest in another order: that is written out."""
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text.replace("\r\n", "\n"))


def for_page(text: str) -> str:
    """What a server advises, without what only programs need: how the same is done by its API."""
    return _BY_API.sub("", text)


def labelled(name: str) -> str:
    """A name in a label. One that no Markdown can be in stays as it is: what is escaped is read out with its escapes."""
    return name if _PLAIN.fullmatch(name) else unmarked(name)


def readable(value: JsonValue) -> str:
    """JSON, indented; cut where it is very long."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return clipped(text)


def response_text(text: str) -> str:
    """As JSON where it is some; else its beginning as it is."""
    if len(text) > _TOO_LONG:
        return clipped(text)
    try:
        return readable(json.loads(text))
    except (ValueError, RecursionError):
        return clipped(text)


def clipped(text: str) -> str:
    """The beginning of a text, with how much more there is."""
    more = len(text) - _LONGEST
    if more <= 0:
        return visible(text)
    return f"{visible(text[:_LONGEST])}\n{say('… {count:,} characters more', count=more)}"
