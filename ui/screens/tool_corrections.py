"""Correcting what a tool's document says: they stay when the document is read again."""

import json
from typing import cast

import streamlit as st
from pydantic import JsonValue

from domain.model import JsonObject
from ui.client import Client
from ui.language import message, say
from ui.screens.telling import told
from ui.sources import Input, Source, SourceTool, correct_tool
from ui.texts import labelled, unmarked
from ui.tool_drafts import text_of, value_of

_EFFECTS = {
    None: message("What its method and document say"),
    "reads": message("It only reads"),
    "changes": message("It changes something"),
}


def correcting(client: Client, source: Source, tool: SourceTool) -> None:
    """Fields as they stand now. What is left as the source says it is no correction."""
    said, key = tool.corrections, f"{tool.tool}-{tool.version}"
    with st.form(f"correct-{key}", border=False):
        description = st.text_area(
            say("What it answers, and for which requests"), tool.document.description, key=f"about-{key}"
        )
        effects = list(_EFFECTS)
        effect = st.selectbox(
            say("What it does"),
            effects,
            index=effects.index(said.side_effect or None),
            format_func=lambda one: say(_EFFECTS[one]),
            key=f"effect-{key}",
            help=say("One that is said to only read is checked again before it is offered."),
        )
        examples: dict[str, JsonValue] = {}
        entities: dict[str, str] = {}
        for one in tool.document.parameters:
            left, right = st.columns(2)
            with left:
                if (value := _example(tool, one, key)) is not None:
                    examples[one.name] = value
            kind = right.text_input(
                say("What kind of thing {name} names", name=labelled(one.name)), said.entities.get(one.name, ""), key=f"entity-{key}-{one.name}",
                placeholder=say("ship, city, …"), max_chars=100,
            )  # fmt: skip
            if kind.strip():
                entities[one.name] = kind.strip()
        entities |= _fields(tool, key)
        reason = st.text_input(say("Why"), max_chars=500, key=f"correct-why-{key}")
        pressed = st.form_submit_button(say("Keep these corrections"), key=f"correct-now-{key}")
    if not pressed:
        return
    changed = description.strip() != tool.original.description.strip()
    body: JsonObject = {
        "description": description.strip() if changed else None,
        "side_effect": effect,
        "examples": examples,
        "entities": cast("dict[str, JsonValue]", entities),
        "reason": reason.strip(),
    }
    if told(lambda: correct_tool(client, source.id, tool.tool, body)):
        st.toast(say("Kept."))
        st.rerun()


def _example(tool: SourceTool, one: Input, key: str) -> JsonValue:
    known = tool.corrections.examples.get(one.name)
    hint = (
        ""
        if one.example is None
        else say("Its document says {example}", example=json.dumps(one.example, ensure_ascii=False))
    )
    label = say("Example of {name}", name=labelled(one.name))
    return value_of(
        st.text_input(label, text_of(known), key=f"example-{key}-{one.name}", placeholder=hint, max_chars=4000),
        one.type,
    )


def _fields(tool: SourceTool, key: str) -> dict[str, str]:
    """Entities of fields of its answer, a line each: ``ships[].name = ship``."""
    inputs = {one.name for one in tool.document.parameters}
    before = "\n".join(f"{path} = {kind}" for path, kind in tool.corrections.entities.items() if path not in inputs)
    text = st.text_area(
        unmarked(say("What kinds of things fields of its answer name, one on each line")), before, key=f"fields-{key}", placeholder="ships[].name = ship", height=80
    )  # fmt: skip
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {path.strip(): kind.strip() for path, _, kind in pairs if path.strip() and kind.strip()}
