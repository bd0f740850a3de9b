"""How the page is started: Streamlit's options, without its telemetry."""

import os
from pathlib import Path

from _processes import ROOT

import ui
from playground.serve import bind
from ui import SERVER_ADDRESS

LOOPBACK = "127.0.0.1"
_IMPORTED_FROM = Path(ui.__path__[0]).parents[ui.__name__.count(".")]


def page_command(port: int, host: str = LOOPBACK) -> list[str]:
    """Return the arguments for this interpreter."""
    options = {
        "server.address": host,
        "server.port": str(port),
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "browser.gatherUsageStats": "false",
        "client.toolbarMode": "minimal",
        "client.showErrorDetails": "none",
        "logger.hideWelcomeMessage": "true",  # for it, Streamlit asks a host in the Internet for this machine's address
        "logger.enableRich": "false",  # it writes to stdout, which is kept back where it is no terminal
        "theme.light.primaryColor": "#1f7a4d",
        "theme.dark.primaryColor": "#2f9e68",
    }
    flags = [part for name, value in options.items() for part in (f"--{name}", value)]
    return ["-m", "streamlit", "run", str(ROOT / "ui" / "page_server.py"), *flags]


def page_environment(server: str) -> dict[str, str]:
    """Where the server is; and where our packages are, since Streamlit looks beside the page only."""
    path = os.pathsep.join([str(_IMPORTED_FROM), *filter(None, [os.environ.get("PYTHONPATH", "")])])
    return {SERVER_ADDRESS: server, "PYTHONPATH": path}


def web_address(host: str, port: int) -> str:
    """Return the URL of a host and port; IPv6 in brackets."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def free_port(port: int, host: str = LOOPBACK) -> int:
    """``port``, or for 0 one that is free now: Streamlit takes none by itself.

    Raises:
        UnavailableError: it is taken.
    """
    with bind(host, port) as listener:
        return int(listener.getsockname()[1])
