"""Fields for values, made from their JSON Schemas."""

import streamlit as st
from pydantic import JsonValue

from domain.model import JsonObject
from ui.texts import labelled, unmarked
from ui.values import choices_of, hint_of, shown, typed


def field(name: str, schema: JsonObject, key: str, value: JsonValue = None, *, required: bool = False) -> JsonValue:
    """What was given; None where it was left empty. ``value``: what stands there at first."""
    label = labelled(name) + (" (required)" if required else "")
    about = schema.get("description")
    told = unmarked(about[:400]) if isinstance(about, str) and about else None
    if choices := choices_of(schema):
        listed = choices if value is None or value in choices else [value, *choices]
        index = None if value is None else listed.index(value)
        return st.selectbox(label, listed, index=index, format_func=shown, key=key, help=told)
    before = "" if value is None else shown(value)
    text = st.text_input(label, before, key=key, help=told, placeholder=hint_of(schema), max_chars=4000)
    return typed(text, schema) if text else None
