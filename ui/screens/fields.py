"""Fields for values, made from their JSON Schemas."""

from collections.abc import Callable

import streamlit as st
from pydantic import JsonValue

from domain.model import JsonObject
from ui.language import say
from ui.texts import labelled, unmarked
from ui.values import choices_of, hint_of, shown, typed


def field(
    name: str,
    schema: JsonObject,
    key: str,
    value: JsonValue = None,
    *,
    required: bool = False,
    changed: Callable[[JsonValue], None] | None = None,
) -> JsonValue:
    """What was given; None where it was left empty. ``value``: what stands there at first. ``changed``: told of another value when somebody gives
    one; a form has none.
    """
    label = say("{name} (required)", name=labelled(name)) if required else labelled(name)
    about = schema.get("description")
    told = unmarked(about[:400]) if isinstance(about, str) and about else None
    if choices := choices_of(schema):
        listed = choices if value is None or value in choices else [value, *choices]
        index = None if value is None else listed.index(value)
        choose = _when_other(key, value, changed)
        return st.selectbox(label, listed, index=index, format_func=shown, key=key, help=told, on_change=choose)
    before = "" if value is None else shown(value)
    hint, change = hint_of(schema), _when_other(key, before, changed, lambda text: _read(str(text), schema))
    text = st.text_input(label, before, key=key, help=told, placeholder=hint, max_chars=4000, on_change=change)
    return _read(text, schema)


def _read(text: str, schema: JsonObject) -> JsonValue:
    return typed(text, schema) if text else None


def _when_other(
    key: str,
    drawn: JsonValue,
    changed: Callable[[JsonValue], None] | None,
    read: Callable[[JsonValue], JsonValue] = lambda value: value,
) -> Callable[[], None] | None:
    """Streamlit also calls fields that nobody touched, which still hold what they were ``drawn`` with."""

    def tell() -> None:
        now = st.session_state[key]
        if changed is not None and now != drawn:
            changed(read(now))

    return tell if changed else None
