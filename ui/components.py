"""The parts of the page that Streamlit does not have: each is three files of ``assets``, which need no network."""

from collections.abc import Callable
from functools import cache

from streamlit.components.v2 import component

from ui.style import asset


@cache
def registered(name: str) -> Callable[..., object]:
    """The part that the files ``name`` are of: once for each process, since Streamlit counts a second registration as a mistake."""
    html, css, js = (asset(f"{name}.{kind}") for kind in ("html", "css", "js"))
    return component(f"footpath_{name}", html=html, css=css, js=js, isolate_styles=False)
