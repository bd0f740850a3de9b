"""Conversion of YAML to JSON values from the parser's events: no recursion, no object tags, no alias bombs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from graph.importers.openapi_nodes import build_object

MAX_DEPTH = 200
MAX_NODES = 2_000_000
"""Values of a document. Values behind aliases count as often as they are used."""

_INTEGER = re.compile(r"[-+]?[0-9]{1,100}|0o[0-7]{1,60}|0x[0-9a-fA-F]{1,50}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class YamlError(ValueError):
    """Text that is not YAML, or has no JSON equivalent."""


def read_yaml(content: bytes) -> Any:
    """Parse one YAML document as JSON values with text keys (YAML 1.2's core schema).

    So ``on`` and ``2024-05-01`` are texts, and a key ``200`` is ``"200"``. Merge keys (``<<``) are applied.

    Raises:
        YamlError: not YAML, several documents, nested deeper than ``MAX_DEPTH``, more than ``MAX_NODES`` values once
            its aliases are followed, or an alias into itself.
    """
    import yaml  # imported here because most runs read no YAML

    builder = _YamlBuilder()
    try:
        events = cast(Iterator[yaml.Event], yaml.parse(content, Loader=yaml.CSafeLoader))  # pyright: ignore[reportUnknownMemberType]
        for event in events:
            match event:
                case yaml.DocumentStartEvent():
                    builder.start_document()
                case yaml.AliasEvent():
                    builder.add_alias(str(event.anchor))
                case yaml.ScalarEvent():
                    plain = bool(event.implicit[0]) and not event.style
                    builder.add_scalar(str(event.value), event.anchor, plain=plain)
                case yaml.SequenceStartEvent():
                    builder.open([], event.anchor)
                case yaml.MappingStartEvent():
                    builder.open({}, event.anchor)
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    builder.close()
                case _:
                    pass
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError(" ".join(str(error).split())[:300]) from error
    return builder.result


@dataclass(slots=True)
class _YamlFrame:
    """List or mapping that is being read."""

    value: list[Any] | dict[str, Any]
    anchor: str | None
    key: str | None = None
    """The key whose value comes next; None if the next value is a key."""
    merge: bool = False
    """The key is a merge key (``<<``)."""
    merged: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Mappings to merge into this one."""
    repeated: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    """Members whose key the mapping already has."""
    size: int = 1
    """Values read so far, including itself."""


@dataclass(slots=True)
class _YamlBuilder:
    """Builder of the JSON values from parser events."""

    result: Any = None
    documents: int = 0
    frames: list[_YamlFrame] = field(default_factory=list[_YamlFrame])
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict[str, tuple[Any, int]])

    def start_document(self) -> None:
        self.documents += 1
        if self.documents > 1:
            raise YamlError("it holds several documents; keep one a file")

    def add_alias(self, name: str) -> None:
        if name not in self.anchors:
            raise YamlError(f"the alias *{name} refers to itself, or to nothing before it")
        value, size = self.anchors[name]
        self._add(value, size, text=value if isinstance(value, str) else None)

    def add_scalar(self, text: str, anchor: str | None, *, plain: bool) -> None:
        value = _resolve_scalar(text) if plain else text
        if anchor:
            self.anchors[anchor] = (value, 1)
        self._add(value, 1, text=text, merge=plain and text == "<<")

    def open(self, value: list[Any] | dict[str, Any], anchor: str | None) -> None:
        if len(self.frames) >= MAX_DEPTH:
            raise YamlError(f"it is nested more than {MAX_DEPTH} levels deep")
        self.frames.append(_YamlFrame(value, anchor))

    def close(self) -> None:
        frame = self.frames.pop()
        if isinstance(frame.value, dict):
            if frame.repeated:
                frame.value = build_object([*frame.value.items(), *frame.repeated])
            if frame.merged:
                own = dict(frame.value)
                frame.value.clear()
                for other in (*reversed(frame.merged), own):  # own keys win, then earlier merged mappings
                    frame.value.update(other)
        if frame.anchor:
            self.anchors[frame.anchor] = (frame.value, frame.size)
        self._add(frame.value, frame.size)

    def _add(self, value: Any, size: int, text: str | None = None, *, merge: bool = False) -> None:
        if not self.frames:
            self.result = value
            return
        frame = self.frames[-1]
        frame.size += size
        if frame.size > MAX_NODES:
            raise YamlError(f"it comes to more than {MAX_NODES:,} values once its aliases are followed")
        if isinstance(frame.value, list):
            frame.value.append(value)
        elif frame.key is None:
            if text is None:
                raise YamlError("a mapping has a key that is no text")
            frame.key, frame.merge = text, merge
        else:
            self._add_member(frame, frame.key, value)
            frame.key = None

    def _add_member(self, frame: _YamlFrame, key: str, value: Any) -> None:
        sources = cast(list[Any], value if isinstance(value, list) else [value])
        if frame.merge and all(isinstance(other, dict) for other in sources):
            frame.merged.extend(sources)
            return
        members = cast(dict[str, Any], frame.value)
        if key in members:
            frame.repeated.append((key, cast(Any, value)))
        else:
            members[key] = value


def _resolve_scalar(text: str) -> Any:
    """Return a plain scalar's value. Infinities stay texts, because JSON has none."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        number = float(text)
        return text if number in (float("inf"), float("-inf")) else number
    return text
