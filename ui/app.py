"""The page: log in, then ask. ``streamlit run ui/page_server.py`` serves it; FOOTPATH_SERVER_ADDRESS names the server."""

import gc

import streamlit as st

from ui import session
from ui.language import begin, say
from ui.problems import ServerError
from ui.screens.chat import chat
from ui.screens.login import login
from ui.style import style


@st.cache_resource
def imported() -> None:
    """Once for the process: Streamlit looks through all garbage after each drawing, and what was imported is none."""
    gc.freeze()


def main() -> None:
    """Draw the page once."""
    begin()
    imported()
    st.set_page_config(page_title="Footpath", page_icon="👣", layout="wide")
    style()
    client = session.visitor()
    session.keep()
    try:
        if client:
            st.session_state.setdefault("language", client.account.user.language or "")
            chat(client)
        else:
            login()
    except ServerError as error:
        if not error.logged_out:
            st.error(str(error))
            st.button(say("Try again"))
            return
        session.leave()
        st.session_state.told = str(error)
        st.rerun()


main()
