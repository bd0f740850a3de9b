"""A JSON value as JSON text of at most so many characters. What is left out is said where it is left out."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from json import dumps

from pydantic.types import JsonValue

MARK = "…"
_LEAST = 24
"""Characters below which a list or a text is not worth beginning; no number is longer."""
_LEAST_OBJECT = 48
_WORTH = 80
"""Characters that a structure in an object gets at least, if it needs them, before a next member is begun."""
_FIELDS_MARK = 32
_ITEMS_MARK = 20
_MAX_DEPTH = 40


def written(value: JsonValue) -> str:
    """Compact JSON, readable in any script."""
    return dumps(value, ensure_ascii=False, separators=(",", ":"))


def fitted(value: JsonValue, room: int, depth: int = 0) -> str:
    """JSON text of at most ``room`` characters (at least 48), valid, in the value's order.

    Small members of an object come before big ones, which share what is left; of a list, the first items. Where something is
    left out, stands a member ``"…": "3 more fields"``, an item ``"… 12 more"``, or ``…`` at the end of a text.
    """
    if length(value, room) <= room:
        return written(value)
    if depth > _MAX_DEPTH or room < (_LEAST_OBJECT if isinstance(value, dict) else _LEAST):
        return f'"{MARK}"'
    match value:
        case str():
            return _text(value, room)
        case dict():
            return _object(value, room, depth)
        case list():
            return _list(value, room, depth)
        case _:
            return f'"{MARK}"'


def length(value: JsonValue, most: int) -> int:
    """How many characters :func:`written` makes of a value; any number above ``most`` where it is more. Looks no further."""
    total = 0
    stack: list[JsonValue] = [value]
    while stack and total <= most:
        match stack.pop():
            case str() as text:
                total += len(written(text)) if len(text) <= most else most + 1
            case dict() as members:
                total += 1 + max(1, 2 * len(members))
                for key, item in members.items() if total <= most else ():
                    total += len(written(key)) if len(key) <= most else most + 1
                    stack.append(item)
            case list() as items:
                total += 1 + max(1, len(items))
                stack += items if total <= most else ()
            case other:
                total += len(written(other))
    return total


def _text(text: str, room: int) -> str:
    """A text cut at a word where one ends near, with the mark."""
    kept = text[: room - 3]
    while len(written(kept)) > room - 1:
        kept = kept[: len(kept) - max(1, (len(written(kept)) - room) // 6)]
    head, space, tail = kept.rpartition(" ")
    return written((head if space and len(tail) < 24 else kept).rstrip() + MARK)


def _object(members: Mapping[str, JsonValue], room: int, depth: int) -> str:
    left = room - 2
    shown: list[tuple[str, JsonValue]] = []
    for key, item in islice(members.items(), room):
        name = written(key) if len(key) <= room else written(f"{key[:20]}{MARK}")
        least = min(length(item, _WORTH), _worth(item)) + len(name) + 2
        if left - least < _FIELDS_MARK:
            break
        left -= least
        shown.append((name, item))
    cut = len(members) - len(shown)
    parts = _shared(shown, room - 2 - (_FIELDS_MARK if cut else 0), depth)
    if cut:
        parts.append(f'{written(_free(members))}:"{cut:,} more {"field" if cut == 1 else "fields"}"')
    return "{" + ",".join(parts) + "}"


def _worth(item: JsonValue) -> int:
    """The least that is worth showing: some of a structure or a sentence, all of an identifier."""
    if isinstance(item, str):
        return _LEAST if " " in item[:_WORTH] else _WORTH
    return _WORTH


def _free(members: Mapping[str, JsonValue]) -> str:
    """A key for the mark that is none of the object's own."""
    return MARK if MARK not in members else f"{MARK} cut"


def _shared(shown: Sequence[tuple[str, JsonValue]], room: int, depth: int) -> list[str]:
    """Room dealt out: nobody gets more than it needs, those who need more than their share get equal shares."""
    room -= sum(len(name) + 2 for name, _ in shown)
    needs = [length(item, room) for _, item in shown]
    shares = [0] * len(shown)
    for done, place in enumerate(sorted(range(len(shown)), key=needs.__getitem__)):
        shares[place] = min(needs[place], room // (len(shown) - done))
        room -= shares[place]
    return [f"{name}:{fitted(item, share, depth + 1)}" for (name, item), share in zip(shown, shares, strict=True)]


def _list(items: Sequence[JsonValue], room: int, depth: int) -> str:
    left = room - 2 - _ITEMS_MARK
    parts: list[str] = []
    for item in islice(items, room):
        need = length(item, left) + 1
        if need > left:
            break
        parts.append(written(item))
        left -= need
    if not parts and left > _LEAST:
        parts.append(fitted(items[0], left, depth + 1))
    return _joined([*parts, f'"{MARK} {len(items) - len(parts):,} more"'] if len(parts) < len(items) else parts)


def _joined(parts: Iterable[str]) -> str:
    return "[" + ",".join(parts) + "]"
