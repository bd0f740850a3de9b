"""What the server says against what is asked of it."""

from collections.abc import Callable

import streamlit as st

from ui.problems import ServerError
from ui.texts import unmarked


def told(what: Callable[[], object]) -> bool:
    """Whether the server did it; what it says against it is shown."""
    try:
        what()
    except ServerError as error:
        st.error(unmarked(str(error)))
        return False
    return True
