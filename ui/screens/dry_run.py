"""What a plan would do, before it does."""

import json

import streamlit as st

from ui.plans import DryRun
from ui.texts import readable, response_text, unmarked
from ui.walk_graph import tool_name


def tried(dry: DryRun) -> None:
    """Expected calls, changes, tokens and cost."""
    with st.container(border=True):
        st.markdown("**What it would do.** Nothing was called.")
        facts = [
            f"{len(dry.calls)} calls",
            f"{len(dry.changes)} that change something",
            f"{dry.model_calls} model calls",
        ]
        facts += [f"{dry.tokens} tokens"] + ([f"cost {dry.cost:.4f}"] if dry.cost is not None else [])
        st.caption(", ".join(facts))
        if dry.note:
            st.caption(unmarked(dry.note))
        for call in dry.calls:
            change = ", changes something" if call.changes else ""
            title = f"{call.step}. {tool_name(call.tool)} ({call.told}{change})"
            with st.expander(unmarked(title)):
                st.text("Arguments")
                st.code(readable(call.arguments), language="json", wrap_lines=True)
                if call.missing:
                    st.text("Missing: " + json.dumps(call.missing, ensure_ascii=False))
                if call.note:
                    st.text(call.note)
                if call.response:
                    st.text("The example in its document" if call.example else "Expected response")
                    st.code(response_text(call.response), language="json", wrap_lines=True)
