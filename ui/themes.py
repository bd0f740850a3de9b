"""Light or dark: Streamlit reads in the browser what was chosen there, before it draws anything. The page sets it, and a cookie that tells the page."""

import json

import streamlit as st

from ui.language import message

COOKIE = "footpath_theme"
THEMES = {"System": message("As the browser is"), "Light": message("Light"), "Dark": message("Dark")}
"""By the names that Streamlit keeps them under."""
_KEPT = "stActiveTheme-${location.pathname}-v2"
"""Where Streamlit 1.67 looks, in JavaScript. The test in a browser fails where another version looks elsewhere."""
_YEAR = 365 * 24 * 3600


def theme() -> str:
    """What was chosen in this browser."""
    chosen = st.context.cookies.get(COOKIE, "")
    return chosen if chosen in THEMES else "System"


def kept_by_browser(chosen: str) -> str:
    """The script that has the browser keep one of ``THEMES`` and draw the page anew, which stays logged in and where it is."""
    return (
        f"<script>localStorage.setItem(`{_KEPT}`, {json.dumps(json.dumps(chosen))});"
        f'document.cookie = "{COOKIE}={chosen}; Path=/; Max-Age={_YEAR}; SameSite=Strict"; location.reload();</script>'
    )
