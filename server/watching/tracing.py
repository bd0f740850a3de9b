"""What traces are made of, whoever makes them; and what there is where nobody wants any."""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from domain.errors import UsageError
from domain.event import EventRecord
from server.storage.runs import Run
from wiring.settings import Settings

Ended = Callable[[str, int], None]
"""To be called with a request's route and the status of its answer."""
_STANDARD = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


class Tracing(Protocol):
    """Nothing here raises, and nothing waits."""

    def request(self, method: str, headers: Mapping[str, str]) -> AbstractContextManager[Ended]:
        """For the time in which a request is answered."""
        ...

    def asked(self, run_id: str) -> None:
        """The request that is being answered asked for this run."""
        ...

    def stored(self, run: Run, record: EventRecord) -> None:
        """An event of a run was stored."""
        ...

    def close(self) -> None:
        """End what is open and send what is left; this may wait."""
        ...


class Untraced:
    """No traces."""

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Generator[Ended]:  # noqa: ARG002
        """Nothing."""
        yield lambda _route, _status: None

    def asked(self, run_id: str) -> None:
        """Nothing."""

    def stored(self, run: Run, record: EventRecord) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def tracing(settings: Settings, variables: Mapping[str, str] = os.environ) -> Tracing:
    """As the settings say. ``UsageError`` where traces are wanted and what makes them is not installed."""
    wanted = settings.otel == "on" or (settings.otel == "auto" and any(variables.get(name) for name in _STANDARD))
    if not wanted:
        return Untraced()
    try:
        from server.watching.otel import exporting
    except ImportError as error:
        raise UsageError('traces need more packages: pip install "footpath[otel]"; or set FOOTPATH_OTEL=off') from error
    return exporting(settings.model_name)
