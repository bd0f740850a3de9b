"""What was found in the history as a file. It is fetched when it is saved, not before."""

from collections.abc import Callable, Sequence

import streamlit as st

from ui.client import Client
from ui.language import say
from ui.past_run_files import as_lines, as_table
from ui.past_runs import PastRun, Wanted, past_runs

MOST = 5_000


def files(client: Client, wanted: Wanted) -> None:
    """All that is like what is looked for, not only what is shown."""

    def made(form: Callable[[Sequence[PastRun]], str]) -> Callable[[], bytes]:
        return lambda: form(past_runs(client, wanted, MOST)[0]).encode()

    with st.popover(say("Save the list"), icon=":material/download:", type="tertiary", key="history-files"):
        st.caption(say("All runs that were found, the newest {most:,} at most.", most=MOST))
        st.download_button(
            say("For a spreadsheet (CSV)"), made(as_table), "runs.csv", "text/csv", key="history-csv", type="tertiary"
        )
        st.download_button(
            say("A line of JSON for each"), made(as_lines), "runs.jsonl", "application/jsonl", key="history-jsonl",
            type="tertiary",
        )  # fmt: skip
