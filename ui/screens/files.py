"""Files with a question: given with the line in which one asks, seen and removed before it is asked, named beside it afterwards."""

from collections.abc import Sequence
from html import escape
from typing import Protocol

import streamlit as st

from domain.given_file import FileNote
from ui.client import Client
from ui.files import GIVE, File, columns_told, give, preview, remove
from ui.language import say, say_count
from ui.problems import ServerError
from ui.replies import Choices, Chosen
from ui.screens.questions import told
from ui.texts import unmarked, visible

_LARGEST = 20
"""Megabytes that a browser may send; how much the server takes it says itself."""


class Upload(Protocol):
    """A file as the browser has sent it."""

    @property
    def name(self) -> str: ...

    def getvalue(self) -> bytes: ...


def line(client: Client, conversation: str) -> tuple[str, Sequence[Upload]]:
    """The line to ask in, with what is given above it; what was said, and the files that came with it."""
    label = say("Ask something")
    if not client.can(GIVE):
        return st.chat_input(label) or "", ()
    with st.bottom:
        _given(client, conversation)
        said = st.chat_input(label, accept_file="multiple", max_upload_size=_LARGEST)
    return (said.text.strip(), said.files) if said else ("", ())


def waiting(conversation: str) -> list[File]:
    """What was given in a conversation, and nothing was asked with yet."""
    kept: dict[str, list[File]] = st.session_state.setdefault("given", {})
    return kept.setdefault(conversation, [])


def unread(conversation: str) -> bool:
    """Whether files wait that nobody would read: what to do is said above the line then, and nothing is asked."""
    return bool(waiting(conversation) and _lacks_model())


def took(client: Client, conversation: str, uploads: Sequence[Upload]) -> bool:
    """Give these files; whether the server takes all of them. What is wrong with one is said above the line, until something else is sent."""
    kept, wrong = waiting(conversation), list[str]()
    for one in uploads:
        try:
            kept.append(give(client, conversation, one.name, one.getvalue()))
        except ServerError as error:
            if error.logged_out:
                raise
            wrong.append(str(error))
    st.session_state.refused_files = wrong
    return not wrong


def asked_with(conversation: str, run: str) -> None:
    """They are this run's now."""
    st.session_state[f"with-{run}"] = tuple(waiting(conversation))
    waiting(conversation).clear()


def beside(client: Client, conversation: str, run: str, files: Sequence[FileNote]) -> None:
    """The files of a question, beneath it. ``files``: as its events tell them, where they are there already."""
    files = files or st.session_state.get(f"with-{run}", ())
    if not files:
        return
    with st.container(horizontal=True, gap="small"):
        for one in files:
            with st.popover(unmarked(_title(one)), icon=":material/attach_file:", type="tertiary"):
                _told(one)
                removes = st.button(
                    say("Remove this file"),
                    key=f"forget-{run}-{one.id}",
                    help=say("It is removed from the server. This question cannot be run again then."),
                )
                if removes and told(lambda one=one: remove(client, conversation, one.id)):
                    st.toast(say("Removed."))


def _given(client: Client, conversation: str) -> None:
    """What is given and not asked with yet: how each begins, and a way to take it back."""
    kept = waiting(conversation)
    for one in st.session_state.get("refused_files", ()):
        st.error(unmarked(one))
    if unsent := st.session_state.get("unsent", ""):
        st.caption(say("Your question was not sent:"))
        st.code(unsent, language=None, wrap_lines=True)
    if not kept:
        return
    with st.container(horizontal=True, gap="small", key="given-files"):
        for one in list(kept):
            with st.popover(unmarked(_title(one)), icon=":material/attach_file:"):
                _told(one)
                _begins(one)
            with st.container(key=f"icon-{one.id}", width="content"):
                label = say("Remove {name}", name=unmarked(one.name))
                if st.button(label, key=f"take-back-{one.id}", icon=":material/close:", type="tertiary") and told(
                    lambda one=one: remove(client, conversation, one.id)
                ):
                    kept.remove(one)
                    st.rerun()
    if advice := _lacks_model():
        st.warning(advice, icon=":material/info:")


def _lacks_model() -> str:
    """What to do where rules decide, which read no files; empty where a model does."""
    chosen: Chosen = st.session_state.chosen
    choices: Choices = st.session_state.choices
    if chosen.policy == "llm":
        return ""
    if any(one.name == "llm" for one in choices.policies):
        return say(
            "A file is read by a program that a language model writes: choose it in the side bar under *Decided by*."
        )
    return say(
        "A file is read by a program that a language model writes, and this server has none: ask an administrator, or write what matters "
        "into your question."
    )


def _title(file: FileNote) -> str:
    if file.kind == "table":
        return f"{file.name}, {say_count('1 row', '{count} rows', file.rows)}"
    if file.rows:
        return f"{file.name}, {say_count('1 item', '{count} items', file.rows)}"
    return file.name


def _told(file: FileNote) -> None:
    """What it is for programs."""
    st.text(visible(file.name))
    st.caption(say("Programs find it as {name}.", name=f"`{unmarked(file.variable)}`"))
    if file.note:
        st.caption(unmarked(file.note))
    if file.columns and not isinstance(file, File):
        heads = [say("Column"), say("Type"), say("Empty cells")]
        _html(heads, columns_told(file.columns), say("Columns of the file"))


def _begins(file: File) -> None:
    seen = preview(file)
    if seen.rows:
        _html(seen.heads, seen.rows, say("How the file begins"))
        more = file.rows - len(seen.rows)
        if more > 0:
            st.caption(say_count("and 1 row more", "and {count} rows more", more))
    if seen.text:
        st.code(visible(seen.text), language=None, wrap_lines=True, height=240)


def _html(heads: Sequence[str], rows: Sequence[Sequence[str]], name: str) -> None:
    """Cells as they stand: they are a stranger's, and no formatted figures."""
    top = "".join(f'<th scope="col">{escape(visible(one))}</th>' for one in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(visible(cell))}</td>' for cell in row)}</tr>" for row in rows)
    head = f"<thead><tr>{top}</tr></thead>" if heads else ""
    st.html(
        f'<div class="fp-table" tabindex="0" role="group" aria-label="{escape(name)}"><table>{head}<tbody>{body}</tbody></table></div>'
    )
