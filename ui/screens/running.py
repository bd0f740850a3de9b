"""What is run with values, from a form of fields: in the open conversation, or in a new one."""

from collections.abc import Callable, Mapping

import streamlit as st

from domain.model import JsonObject
from ui import places
from ui.client import Client
from ui.language import listing, say
from ui.problems import ServerError
from ui.screens.fields import field
from ui.texts import unmarked


def values_form(key: str, parameters: Mapping[str, JsonObject]) -> JsonObject | None:
    """A field for each parameter, of its kind, with what it is where nothing else is said; the values once it is run, if none is missing."""
    values: JsonObject = {}
    with st.form(f"run-{key}"):
        for name, schema in parameters.items():
            own = f"value-{key}-{name}"
            value = field(name, schema, own, schema.get("default"), required="default" not in schema)
            if value is not None:
                values[name] = value
        ran = st.form_submit_button(say("Run"), type="primary", icon=":material/play_arrow:")
    if not ran:
        return None
    if missing := missing_of(parameters, values):
        st.error(unmarked(say("Still needed: {missing}.", missing=listing(missing))))
        return None
    return values


def missing_of(parameters: Mapping[str, JsonObject], values: JsonObject) -> list[str]:
    """The parameters that have to be given and are not."""
    return [name for name, schema in parameters.items() if name not in values and "default" not in schema]


def run_in(client: Client, conversation: str, title: str, run: Callable[[str], object]) -> None:
    """``conversation``: where it is run; empty: a new one, which is not kept where the server will not run it. The page shows the run then."""
    begun = ""
    try:
        begun = conversation or client.begin(title).id
        run(begun)
    except ServerError as error:
        if begun and not conversation:
            client.remove(begun)
        if error.logged_out:
            raise
        st.error(unmarked(str(error)))
        return
    st.query_params.clear()
    places.go(conversation=begun)
