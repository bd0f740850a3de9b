"""Adding an API: by a document, as an MCP server, or by hand."""

import streamlit as st

from domain.model import JsonObject
from ui import places
from ui.client import Client
from ui.language import message, say
from ui.problems import ServerError
from ui.screens.audience import audience, watched
from ui.screens.document_text import document_text
from ui.screens.typed_tools import forget_tools, typed_tools
from ui.sources import add_source
from ui.texts import unmarked
from ui.tool_drafts import missing_of, tool_body

_WAYS = {
    "address": message("The address of its document"),
    "document": message("Its document, as a file or text"),
    "mcp": message("An MCP server"),
    "form": message("None: I describe its calls"),
}
_CATEGORY = "Custom"


def adding(client: Client) -> None:
    """Fields for a new source; it is shown once the server has read it."""
    if st.button(say("All sources"), icon=":material/arrow_back:", type="tertiary"):
        places.go("sources")
    st.title(say("Add an API"))
    st.caption(
        say(
            "It is read and shown to you. Nothing is called before you start the admission check, and nobody is offered anything before you admit it."
        )
    )
    way = st.radio(say("What do you have?"), list(_WAYS), format_func=lambda one: say(_WAYS[one]), key="add-way")
    name = st.text_input(say("Name"), max_chars=100, key="add-name", placeholder=say("Harbour")).strip()
    read, missing = _fields(way)
    with st.expander(say("Where it belongs"), expanded=False):
        category = st.text_input(say("Category"), _CATEGORY, max_chars=100, key="add-category").strip() or _CATEGORY
        toolset = st.text_input(
            say("Tool set"), max_chars=100, key="add-toolset", placeholder=name or say("As it is named")
        ).strip()
    for_whom = audience(client, "add")
    again = watched("add") if way in ("address", "mcp") else 0
    if not st.button(say("Add it"), type="primary", key="add-it"):
        return
    if missing := ([] if name else [say("it has no name")]) + missing:
        st.error(unmarked(say("Still needed: {missing}.", missing="; ".join(missing))))
        return
    where: JsonObject = {"category": category, **({"toolset": toolset} if toolset else {}), "watch_minutes": again}
    _add(client, {"name": name, **read, **where, **for_whom})


def _add(client: Client, new: JsonObject) -> None:
    try:
        with st.spinner(say("It is being read …")):
            made = add_source(client, new)
    except ServerError as error:
        if error.logged_out:
            raise
        st.error(unmarked(str(error)))
        return
    forget_tools()
    places.go("sources", source=made.id)


def _fields(way: str) -> tuple[JsonObject, list[str]]:
    """What says where the tools come from, as the server takes it, and what is missing."""
    match way:
        case "address":
            address = st.text_input(
                say("Address of its OpenAPI or Swagger document"), max_chars=2000, key="add-address", placeholder="https://api.example.com/openapi.json"
            ).strip()  # fmt: skip
            return {"kind": "openapi", "address": address, **_base()}, [] if address else [
                say("the address of its document")
            ]
        case "document":
            text, wrong = document_text("add")
            return {"kind": "openapi", "document": text, **_base()}, wrong
        case "mcp":
            return _mcp()
        case _:
            tools = typed_tools()
            return {"kind": "form", "tools": [tool_body(one) for one in tools]}, missing_of(tools)


def _base() -> JsonObject:
    base = st.text_input(
        say("Base address of its calls"), max_chars=2000, key="add-base", placeholder=say("Only where the document names none, or a wrong one")
    ).strip()  # fmt: skip
    return {"base_url": base} if base else {}


def _mcp() -> tuple[JsonObject, list[str]]:
    by_command = st.toggle(
        say("It is a program on the server's machine that an administrator has allowed"), key="add-stdio"
    )
    if by_command:
        command = st.text_input(say("Its name on the administrator's list"), max_chars=100, key="add-command").strip()
        return {"kind": "mcp", "command": command}, [] if command else [say("the name of the program")]
    address = st.text_input(
        say("Address of the MCP server"), max_chars=2000, key="add-mcp", placeholder="https://mcp.example.com/mcp"
    ).strip()
    return {"kind": "mcp", "address": address}, [] if address else [say("the address of the MCP server")]
