"""Truncation of a JSON value to valid JSON of a given length, with marks where something is left out."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from json import dumps

from pydantic.types import JsonValue

MARK = "…"
"""Mark of a cut."""
_LEAST = 24
"""Characters below which a list or a text is replaced by the mark; no number is longer."""
_LEAST_OBJECT = 48
"""Characters below which an object is replaced by the mark."""
_WORTH = 80
"""Characters that a member of an object gets at least, if it needs them, before another member is added."""
_FIELDS_MARK = 32
"""Characters reserved for the mark of missing members."""
_ITEMS_MARK = 20
"""Characters reserved for the mark of missing items."""
_MAX_DEPTH = 40
"""Levels below which a value is replaced by the mark, as this module recurses."""


def written(value: JsonValue) -> str:
    """Dump a value as compact JSON, with characters of all scripts unescaped."""
    return dumps(value, ensure_ascii=False, separators=(",", ":"))


def fitted(value: JsonValue, room: int, depth: int = 0) -> str:
    """Dump a value as valid JSON of at most ``room`` characters (48 or more), in the value's order.

    Small members of an object are kept whole and large ones share the rest; of a list, the first items are kept. A cut
    is marked: by a member ``"…": "3 more fields"``, an item ``"… 12 more"``, or ``…`` at the end of a text.
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
    """Return the length of a value's JSON, or some number above ``most`` if it is longer.

    It stops there, so the time is bounded by ``most`` and not by the value's size.
    """
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
    """Cut a text at the end of a word if one is near, and add the mark."""
    kept = text[: room - 3]  # two quotes and the mark
    # Escapes make the JSON longer than the text; one character takes up to six (``\u0000``).
    while len(written(kept)) > room - 1:
        kept = kept[: len(kept) - max(1, (len(written(kept)) - room) // 6)]
    head, space, tail = kept.rpartition(" ")
    return written((head if space and len(tail) < 24 else kept).rstrip() + MARK)


def _object(members: Mapping[str, JsonValue], room: int, depth: int) -> str:
    """Truncate an object: as many members as get a useful share of the room, then the mark."""
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
    """Return the characters below which a member is not worth showing: a sentence may be cut, an identifier not."""
    if isinstance(item, str):
        return _LEAST if " " in item[:_WORTH] else _WORTH
    return _WORTH


def _free(members: Mapping[str, JsonValue]) -> str:
    """Return a key for the mark that the object does not have itself."""
    return MARK if MARK not in members else f"{MARK} cut"


def _shared(shown: Sequence[tuple[str, JsonValue]], room: int, depth: int) -> list[str]:
    """Divide the room among members (max-min fairness) and render them.

    None gets more than it needs; those that need more than an equal share get equal shares of what is left.
    """
    room -= sum(len(name) + 2 for name, _ in shown)
    needs = [length(item, room) for _, item in shown]
    shares = [0] * len(shown)
    for done, place in enumerate(sorted(range(len(shown)), key=needs.__getitem__)):
        shares[place] = min(needs[place], room // (len(shown) - done))
        room -= shares[place]
    return [f"{name}:{fitted(item, share, depth + 1)}" for (name, item), share in zip(shown, shares, strict=True)]


def _list(items: Sequence[JsonValue], room: int, depth: int) -> str:
    """Truncate a list: the first items that fit whole, or a part of the first one, then the mark."""
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
