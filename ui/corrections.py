"""What is to be said of the calls of a question: values that were put in the place of others, and calls that are left out."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date

from pydantic import JsonValue

from domain.model import JsonObject
from ui.language import say
from ui.replies import Fault
from ui.values import choices_of, kind_of, properties_of, required_of, shown, typed

LONG = 80
"""Characters beyond which a text has lines of its own."""
_EXACT = 2**53
_PLACE = re.compile(r"body\.corrections\.(\d+)")


def schema_of(accepts: JsonObject, name: str) -> JsonObject:
    """Of one argument, without null as one of its alternatives."""
    return _without_null(properties_of(accepts).get(name, {}))


def _without_null(schema: JsonObject) -> JsonObject:
    listed = schema.get("anyOf")
    kinds = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    left = [one for one in kinds if one.get("type") != "null"]
    return _without_null(left[0]) if len(left) == 1 else schema


def form_of(schema: JsonObject, value: JsonValue) -> str:
    """How a value is corrected: ``choice``, ``whole``, ``number``, ``day``, ``lines`` (JSON or a long text) or ``text``."""
    kind = kind_of(schema)
    if choices_of(schema) or isinstance(value, bool):
        return "choice"
    if isinstance(value, (dict, list)) or (isinstance(value, str) and (len(value) > LONG or "\n" in value)):
        return "lines"
    if isinstance(value, int) and kind in ("integer", "number") and abs(value) < _EXACT:
        return "whole" if kind == "integer" else "number"
    if isinstance(value, float) and kind == "number":
        return "number"
    return "day" if schema.get("format") == "date" and day_of(value) is not None else "text"


def day_of(value: JsonValue) -> date | None:
    """A day as it is written; None of what is none."""
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def read(text: str, accepts: JsonObject, name: str, before: JsonValue) -> JsonValue:
    """What was typed in place of a value: JSON where that is asked for, or the value was no text. Nothing: left out, where that may be."""
    if not text.strip() and name not in required_of(accepts):
        return None
    if isinstance(before, str):
        return typed(text, schema_of(accepts, name)) if kind_of(schema_of(accepts, name)) != "string" else text
    try:
        return json.loads(text)
    except ValueError:
        return text


def as_text(value: JsonValue) -> str:
    """As it is corrected where that is done by typing."""
    return json.dumps(value, indent=2, ensure_ascii=False) if isinstance(value, (dict, list)) else shown(value)


def corrections(
    before: Sequence[JsonObject], given: Sequence[Mapping[str, JsonValue]], left_out: frozenset[int] = frozenset()
) -> list[JsonObject]:
    """As the server takes them: of each call what is other than it was, and those that are left out."""
    told: list[JsonObject] = []
    for at, (old, new) in enumerate(zip(before, given, strict=True)):
        changed: JsonObject = {name: value for name, value in new.items() if not _same(old.get(name), value)}
        if at in left_out:
            told.append({"call": at, "skip": True})
        elif changed:
            told.append({"call": at, "arguments": changed})
    return told


def unfit(faults: Sequence[Fault], made: Sequence[JsonObject], *, several: bool) -> str:
    """What the server says against corrections, in words; of ``several`` calls, which one each is about, as they are counted on the page."""
    return " ".join([say("This does not fit:"), *(_unfit(one, made, several=several) for one in faults)])


def _unfit(fault: Fault, made: Sequence[JsonObject], *, several: bool) -> str:
    found = _PLACE.match(fault.place)
    call = made[int(found[1])].get("call") if found and int(found[1]) < len(made) else None
    return (
        say("call {call}: {message}", call=call + 1, message=fault.message)
        if several and isinstance(call, int)
        else fault.message
    )


def _same(one: JsonValue, other: JsonValue) -> bool:
    """1 and true are not the same, 1 and 1.0 are."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)
