"""Truncation of a JSON value to valid JSON of a given length, with marks where something is left out."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from json import dumps

from pydantic.types import JsonValue

CUT_MARK = "…"
"""Mark of a cut."""
_MIN_VALUE_CHARS = 24
"""Characters below which a list or a text is replaced by the mark; no number is longer."""
_MIN_OBJECT_CHARS = 48
"""Characters below which an object is replaced by the mark."""
_MIN_MEMBER_CHARS = 80
"""Characters that a member of an object gets at least, if it needs them, before another member is added."""
_FIELDS_MARK_CHARS = 32
"""Characters reserved for the mark of missing members."""
_ITEMS_MARK_CHARS = 20
"""Characters reserved for the mark of missing items."""
_MAX_DEPTH = 40
"""Levels below which a value is replaced by the mark, as this module recurses."""


def dump_compact(value: JsonValue) -> str:
    """Dump a value as compact JSON, with characters of all scripts unescaped."""
    return dumps(value, ensure_ascii=False, separators=(",", ":"))


def truncate_json(value: JsonValue, max_chars: int, depth: int = 0) -> str:
    """Dump a value as valid JSON of at most ``max_chars`` characters (48 or more), in the value's order.

    Small members of an object are kept whole and large ones share the rest; of a list, the first items are kept. A cut
    is marked: by a member ``"…": "3 more fields"``, an item ``"… 12 more"``, or ``…`` at the end of a text.
    """
    if measure_length(value, max_chars) <= max_chars:
        return dump_compact(value)
    if depth > _MAX_DEPTH or max_chars < (_MIN_OBJECT_CHARS if isinstance(value, dict) else _MIN_VALUE_CHARS):
        return f'"{CUT_MARK}"'
    match value:
        case str():
            return _truncate_text(value, max_chars)
        case dict():
            return _truncate_object(value, max_chars, depth)
        case list():
            return _truncate_list(value, max_chars, depth)
        case _:
            return f'"{CUT_MARK}"'


def measure_length(value: JsonValue, limit: int) -> int:
    """Return the length of a value's JSON, or some number above ``limit`` if it is longer.

    It stops there, so the time is bounded by ``limit`` and not by the value's size.
    """
    total = 0
    stack: list[JsonValue] = [value]
    while stack and total <= limit:
        match stack.pop():
            case str() as text:
                total += len(dump_compact(text)) if len(text) <= limit else limit + 1
            case dict() as members:
                total += 1 + max(1, 2 * len(members))
                for key, item in members.items() if total <= limit else ():
                    total += len(dump_compact(key)) if len(key) <= limit else limit + 1
                    stack.append(item)
            case list() as items:
                total += 1 + max(1, len(items))
                stack += items if total <= limit else ()
            case other:
                total += len(dump_compact(other))
    return total


def _truncate_text(text: str, max_chars: int) -> str:
    """Cut a text at the end of a word if one is near, and add the mark."""
    shortened = text[: max_chars - 3]  # two quotes and the mark
    # Escapes make the JSON longer than the text; one character takes up to six (``\u0000``).
    while len(dump_compact(shortened)) > max_chars - 1:
        shortened = shortened[: len(shortened) - max(1, (len(dump_compact(shortened)) - max_chars) // 6)]
    head, space, tail = shortened.rpartition(" ")
    return dump_compact((head if space and len(tail) < 24 else shortened).rstrip() + CUT_MARK)


def _truncate_object(members: Mapping[str, JsonValue], max_chars: int, depth: int) -> str:
    """Truncate an object: as many members as get a useful share of the room, then the mark."""
    remaining = max_chars - 2
    shown_members: list[tuple[str, JsonValue]] = []
    for key, item in islice(members.items(), max_chars):
        name = dump_compact(key) if len(key) <= max_chars else dump_compact(f"{key[:20]}{CUT_MARK}")
        least = min(measure_length(item, _MIN_MEMBER_CHARS), _get_useful_chars(item)) + len(name) + 2
        if remaining - least < _FIELDS_MARK_CHARS:
            break
        remaining -= least
        shown_members.append((name, item))
    cut = len(members) - len(shown_members)
    parts = _share_room(shown_members, max_chars - 2 - (_FIELDS_MARK_CHARS if cut else 0), depth)
    if cut:
        parts.append(f'{dump_compact(_choose_mark_key(members))}:"{cut:,} more {"field" if cut == 1 else "fields"}"')
    return "{" + ",".join(parts) + "}"


def _get_useful_chars(item: JsonValue) -> int:
    """Return the characters below which a member is not worth showing: a sentence may be cut, an identifier not."""
    if isinstance(item, str):
        return _MIN_VALUE_CHARS if " " in item[:_MIN_MEMBER_CHARS] else _MIN_MEMBER_CHARS
    return _MIN_MEMBER_CHARS


def _choose_mark_key(members: Mapping[str, JsonValue]) -> str:
    """Return a key for the mark that the object does not have itself."""
    return CUT_MARK if CUT_MARK not in members else f"{CUT_MARK} cut"


def _share_room(members: Sequence[tuple[str, JsonValue]], room: int, depth: int) -> list[str]:
    """Divide the room among members (max-min fairness) and render them.

    None gets more than it needs; those that need more than an equal share get equal shares of what is left.
    """
    room -= sum(len(name) + 2 for name, _ in members)
    needs = [measure_length(item, room) for _, item in members]
    shares = [0] * len(members)
    for dealt_count, index in enumerate(sorted(range(len(members)), key=needs.__getitem__)):
        shares[index] = min(needs[index], room // (len(members) - dealt_count))
        room -= shares[index]
    return [
        f"{name}:{truncate_json(item, share, depth + 1)}" for (name, item), share in zip(members, shares, strict=True)
    ]


def _truncate_list(items: Sequence[JsonValue], max_chars: int, depth: int) -> str:
    """Truncate a list: the first items that fit whole, or a part of the first one, then the mark."""
    remaining = max_chars - 2 - _ITEMS_MARK_CHARS
    parts: list[str] = []
    for item in islice(items, max_chars):
        need = measure_length(item, remaining) + 1
        if need > remaining:
            break
        parts.append(dump_compact(item))
        remaining -= need
    if not parts and remaining > _MIN_VALUE_CHARS:
        parts.append(truncate_json(items[0], remaining, depth + 1))
    return _join_list([*parts, f'"{CUT_MARK} {len(items) - len(parts):,} more"'] if len(parts) < len(items) else parts)


def _join_list(parts: Iterable[str]) -> str:
    return "[" + ",".join(parts) + "]"
