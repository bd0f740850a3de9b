"""Strangers' texts on the page: of tools, answers and models. They are shown as text and code, never as markup."""

import json
import re

from pydantic import JsonValue

_LONGEST = 20_000
_LINKS = re.compile(r":(?=//)|@|www(?=\.)", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)*")


def unmarked(text: str) -> str:
    """Text that Markdown shows as it is. Addresses, which would become links however they are escaped, are parted by a joiner that is not seen."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    plain = _LINKS.sub(lambda found: f"{found[0]}\u2060", plain)
    return "".join(f"\\{character}" if character in "\\`*_{}[]()<>#+-.!|~$:&" else character for character in plain)


def labelled(name: str) -> str:
    """A name in a label. One that no Markdown can be in stays as it is: what is escaped is read out with its escapes."""
    return name if _PLAIN.fullmatch(name) else unmarked(name)


def readable(value: JsonValue) -> str:
    """JSON, indented; cut where it is very long."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… {len(text) - _LONGEST} characters more"


def response_text(text: str) -> str:
    """As JSON where it is some; else its beginning as it is."""
    try:
        return readable(json.loads(text))
    except (ValueError, RecursionError):
        return text[:_LONGEST]
