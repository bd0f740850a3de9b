"""An API's document as a file or as text, and how it is sent."""

import streamlit as st

from domain.model import JsonObject
from ui.client import Client
from ui.language import say
from ui.sources import send_document

_MOST_MIB = 64
"""That a browser may send; how much the server takes it says itself."""
_BY_ITSELF = 500_000
"""Bytes from which on a document is sent by itself: the body of another request has room for a megabyte."""
_SENT = "sent-document"


def document_body(client: Client, text: str) -> JsonObject:
    """Return a document as a request names it: its text, or the id of a large one, which is sent first, once. Raises ServerError."""
    if len(text.encode()) < _BY_ITSELF:
        return {"document": text}
    known, sent = st.session_state.get(_SENT, (None, ""))
    if known != hash(text):
        sent = send_document(client, text)
        st.session_state[_SENT] = (hash(text), sent)
    return {"document_id": sent}


def forget_document() -> None:
    """The server does not have it any more: it was used, or is too old."""
    st.session_state.pop(_SENT, None)


def document_text(key: str) -> tuple[str, list[str]]:
    """Its text, and what is missing or wrong."""
    given = st.file_uploader(say("File"), type=["json", "yaml", "yml"], key=f"{key}-file", max_upload_size=_MOST_MIB)
    pasted = st.text_area(say("Or paste it here"), key=f"{key}-text", height=200)
    if given is None:
        return pasted, [] if pasted.strip() else [say("its document")]
    try:
        return given.getvalue().decode("utf-8-sig"), []
    except UnicodeDecodeError:
        return "", [say("a document in UTF-8: save the file so and choose it again")]
