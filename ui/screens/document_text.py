"""An API's document as a file or as text."""

import streamlit as st

from ui.language import say

_MOST_MIB = 8


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
