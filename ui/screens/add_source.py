"""Adding an API: by a document, as an MCP server, or by hand."""

import streamlit as st

from domain.model import JsonObject
from domain.tool_source import OperationChoice
from ui import places
from ui.client import Client
from ui.language import message, say
from ui.problems import ServerError
from ui.screens.audience import audience, watched
from ui.screens.document_text import document_body, document_text, forget_document
from ui.screens.operations import choosing
from ui.screens.telling import told
from ui.screens.typed_tools import forget_tools, typed_tools
from ui.sources import TOO_MANY, SourceOutline, add_source, outline_document
from ui.texts import unmarked
from ui.tool_drafts import missing_of, tool_body

_WAYS = {
    "address": message("The address of its document"),
    "document": message("Its document, as a file or text"),
    "mcp": message("An MCP server"),
    "form": message("None: I describe its calls"),
}
_CATEGORY = "Custom"
_OUTLINE = "add-outline"
"""What a document was found to list that is too large to be taken as a whole, with the document."""


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
    chosen = _chosen(read)
    if not st.button(say("Add it"), type="primary", key="add-it"):
        return
    if missing := ([] if name else [say("it has no name")]) + missing:
        st.error(unmarked(say("Still needed: {missing}.", missing="; ".join(missing))))
        return
    where: JsonObject = {"category": category, **({"toolset": toolset} if toolset else {}), "watch_minutes": again}
    _add(client, {"name": name, **read, **where, **for_whom, **chosen})


def _add(client: Client, new: JsonObject) -> None:
    given = _given(new)
    try:
        with st.spinner(say("It is being read …")):
            if isinstance(text := new.get("document"), str):
                new = {name: value for name, value in new.items() if name != "document"} | document_body(client, text)
            made = add_source(client, new)
    except ServerError as error:
        if error.logged_out:
            raise
        if error.status == 404:
            forget_document()
        if error.problem != TOO_MANY or st.session_state.get(_OUTLINE, (None, None))[0] == given:
            st.error(unmarked(str(error)))
        elif told(lambda: _outline(client, new, given)):
            st.rerun()
        return
    forget_tools()
    forget_document()
    st.session_state.pop(_OUTLINE, None)
    places.go("sources", source=made.id)


def _given(new: JsonObject) -> int:
    """Tell a document from others."""
    return hash((new.get("document"), new.get("address")))


def _outline(client: Client, new: JsonObject, given: int) -> None:
    """List the operations of a document that is too large to be taken as a whole. Raises ServerError."""
    place = {name: new[name] for name in ("document", "document_id", "address") if name in new}
    with st.spinner(say("It is being read …")):
        st.session_state[_OUTLINE] = (given, outline_document(client, place))


def _chosen(read: JsonObject) -> JsonObject:
    """Fields for what is taken of a document that lists too much; nothing for another."""
    given, outline = st.session_state.get(_OUTLINE, (None, None))
    if not isinstance(outline, SourceOutline) or given != _given(read):
        return {}
    st.subheader(say("Its operations"))
    st.info(
        say(
            "Its document lists {total:,} operations, and a source may have {most:,}. Choose those that are needed, and add it again.",
            total=outline.total,
            most=outline.most,
        )
    )
    choice = choosing(outline, f"choose-{given}", OperationChoice())
    return {"operations": choice.model_dump(mode="json")}


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
