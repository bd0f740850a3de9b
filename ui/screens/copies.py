"""An answer to be taken elsewhere: copied, as a file of text or of its table, and what its run did as a program."""

import streamlit as st

from ui.answer_files import as_csv, as_markdown
from ui.answer_parts import Table, answer_parts
from ui.client import Client
from ui.language import message, say
from ui.replies import Run
from ui.reruns import ExportedFile, exported
from ui.run_state import RunState
from ui.screens.telling import told
from ui.texts import clipped, unmarked

_EXPORT = "/runs/{run_id}/export"
_FORMS = {
    "python": message("a Python program"),
    "mcp": message("an MCP server"),
    "langgraph": message("a node of LangGraph"),
}


def copies(client: Client, run: Run, story: RunState) -> None:
    """What is copied is as it came, without what people read more easily."""
    with st.popover(say("Copy or save"), icon=":material/content_copy:", type="tertiary"):
        st.code(clipped(story.answer.strip()), language=None, wrap_lines=True)
        st.download_button(
            say("As text with its sources"),
            as_markdown(run.request, story.answer),
            "answer.md",
            "text/markdown",
            key=f"md-{run.id}",
            type="tertiary",
        )
        tables = [part for part in answer_parts(story.answer).said if isinstance(part, Table)]
        for number, table in enumerate(tables, 1):
            several = str(number) if len(tables) > 1 else ""
            st.download_button(
                say("Table {number} as CSV", number=number) if several else say("Table as CSV"),
                as_csv(table),
                f"answer{several}.csv",
                "text/csv",
                key=f"csv-{number}-{run.id}",
                type="tertiary",
            )
        if client.can(_EXPORT):
            _program(client, run)


def _program(client: Client, run: Run) -> None:
    """What the run did, as a file; the server says where that cannot be."""
    form = st.selectbox(
        say("What it did, as"), list(_FORMS), format_func=lambda one: say(_FORMS[one]), key=f"form-{run.id}"
    )
    made: dict[tuple[str, str], ExportedFile] = st.session_state.setdefault("exported", {})
    key = run.id, form
    if st.button(say("Make the file"), key=f"export-{run.id}"):
        told(lambda: made.update({key: exported(client, run.id, form)}))
    if file := made.get(key):
        st.download_button(
            say("Save {file}", file=unmarked(file.file)), file.text, file.file, key=f"save-{run.id}", type="tertiary"
        )
