"""The log: a line of text or of JSON for each thing, with the run and the request that it is about, and no secrets."""

import json
import logging
import re
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TextIO

from server.gateway.gone import CLIENT_GONE
from server.watching.secrecy import Secrecy, secrets_of
from wiring.settings import Settings

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
"""Of the request that is answered."""
RUN_ID: ContextVar[str] = ContextVar("run_id", default="")
"""Of the run that is made."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
"""What would break a line, or a terminal, off."""
_OF_CLIENTS = "mcp.server.streamable_http"
"""Where the protocol's own package tells of its clients' connections."""
_OURS = ("server", "agent", "graph", "retriever", "wiring", "evaluation", "domain")


class Lines(logging.Formatter):
    """``json``: one object a line, with ``at, level, logger, message`` and, where there are, ``run, request, error``."""

    def __init__(self, secrecy: Secrecy, *, json: bool) -> None:
        super().__init__()
        self._secrecy = secrecy
        self._json = json

    def format(self, record: logging.LogRecord) -> str:
        """Everything is cleaned of secrets last, so that none comes in by an argument, an error or its causes."""
        parts = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "run": RUN_ID.get(),
            "request": REQUEST_ID.get(),
            "message": self._secrecy.clean(record.getMessage()),
            "error": self._secrecy.clean(self.formatException(record.exc_info)) if record.exc_info else "",
        }
        if self._json:
            return json.dumps({name: text for name, text in parts.items() if text}, ensure_ascii=False)
        about = "".join(f" {name}={parts[name]}" for name in ("run", "request") if parts[name])
        message = _CONTROL.sub(lambda found: ascii(found[0])[1:-1], parts["message"])
        line = f"{parts['at']} {parts['level']:7} {parts['logger']}{about}: {message}"
        return f"{line}\n{parts['error']}" if parts["error"] else line


def set_up(settings: Settings, variables: Mapping[str, str], stream: TextIO | None = None) -> logging.Handler:
    """Have the process' log written to ``stream`` (stderr), as the settings say; in place of what was set up before.

    ``variables``: the environment, whose secrets are held back. The level is that of what is ours; of others, warnings are told.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(Lines(Secrecy(secrets_of(settings, variables)), json=settings.log_format == "json"))
    level = getattr(logging, settings.log_level.upper())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(max(level, logging.WARNING))
    for name in _OURS:
        logging.getLogger(name).setLevel(level)
    logging.getLogger(_OF_CLIENTS).addFilter(_unless_gone)
    return handler


def _unless_gone(record: logging.LogRecord) -> bool:
    """Whether a record is more than that a client has gone away, which is no fault."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, CLIENT_GONE)
