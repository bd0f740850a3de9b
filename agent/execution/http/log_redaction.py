"""Values of secrets out of the HTTP library's logs."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from agent.execution.redaction import Redactor

_LOGGERS = ("httpx", "httpcore.connection", "httpcore.http11", "httpcore.http2", "httpcore.proxy", "httpcore.socks",
            "mcp.client.streamable_http", "client", "")  # fmt: skip
"""The loggers that tell URLs, headers and messages; the protocol's library uses the root's own, too. Filters of a parent do not see what its children tell."""

_current: ContextVar[Redactor | None] = ContextVar("redactor", default=None)


@contextmanager
def unlogged(redactor: Redactor) -> Generator[None]:
    """While this lasts, in this task, the HTTP library's log lines lose the values."""
    _guard_logs()
    token = _current.set(redactor)
    try:
        yield
    finally:
        _current.reset(token)


class _LogFilter(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        redactor = _current.get()
        if redactor is not None:
            record.msg, record.args = redactor.clean(record.getMessage()), ()
            record.exc_info = record.exc_text = None  # an error of reading shows what was read
        return True


_FILTER = _LogFilter()


def _guard_logs() -> None:
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_FILTER)  # the same filter is added once
