"""Removal of secret values from the logs of the HTTP libraries."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from agent.execution.redaction import Redactor

_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks",
            "mcp.client.streamable_http", "client", "")  # fmt: skip
"""Loggers that write URLs, headers and messages; the MCP library also uses the root logger.

Each is listed because a parent's filters do not see the records of its children.
"""

_current: ContextVar[Redactor | None] = ContextVar("redactor", default=None)


@contextmanager
def redact_logs(redactor: Redactor) -> Generator[None]:
    """Redact the log records that HTTP libraries write in this task, and in tasks it starts, inside the context."""
    _install_filter()
    token = _current.set(redactor)
    try:
        yield
    finally:
        _current.reset(token)


class _LogFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        redactor = _current.get()
        if redactor is not None:
            record.msg, record.args = redactor.redact(record.getMessage()), ()
            record.exc_info = record.exc_text = None  # the traceback of a parse error shows the data
        return True


_FILTER = _LogFilter()


def _install_filter() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)  # the same filter is added once
