"""A run that is followed in the background, as long as somebody looks."""

import time
from threading import Event, Lock, Thread

import streamlit as st

from ui.client import Client
from ui.problems import ServerError
from ui.run_state import RunState
from ui.stream import Told

_UNWATCHED = 60.0
"""Seconds after which a run at which nobody looks is no longer followed; it goes on at the server."""


def follower(client: Client, run: str) -> "Following":
    """The one of this visit; made where there is none."""
    known: dict[str, Following] = st.session_state.setdefault("following", {})
    if run not in known:
        known[run] = Following(client, run)
    return known[run]


class Following:
    """Events of a run, gathered by a thread of its own. One page looks at it, again and again."""

    def __init__(self, client: Client, run: str) -> None:
        self._client, self._run = client, run
        self._lock = Lock()
        self._new: list[Told] = []
        self._looked = time.monotonic()
        self._ended = Event()
        self._error: ServerError | None = None
        self.story = RunState()
        self._thread = Thread(target=self._gather, name=f"run {run}", daemon=True)
        self._thread.start()

    def look(self) -> RunState:
        """The story as it is now.

        Raises:
            ServerError: it cannot be followed any more.
        """
        self._looked = time.monotonic()
        ended = self._ended.is_set()
        with self._lock:
            new, self._new = self._new, []
        for told in new:
            self.story.add(told)
        if ended and self._error:
            raise self._error
        if ended and not self.story.finished:
            self._again()
        return self.story

    def wait(self, seconds: float) -> None:
        """Until the run has ended, at most that long: what is long past is drawn at once."""
        self._ended.wait(seconds)

    def _again(self) -> None:
        self._ended.clear()
        self._thread = Thread(target=self._gather, name=f"run {self._run}", daemon=True)
        self._thread.start()

    def _gather(self) -> None:
        try:
            for told in self._client.events(self._run, self.story.seq, self._watched):
                with self._lock:
                    self._new.append(told)
        except ServerError as error:
            self._error = error
        finally:
            self._ended.set()

    def _watched(self) -> bool:
        return time.monotonic() - self._looked < _UNWATCHED
