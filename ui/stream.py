"""A run's events as they come (server-sent events), over as many connections as it takes."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx

from ui.account import Account
from ui.problems import ServerError, refused, unreached

_ATTEMPTS = 8
_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_SILENCE = httpx.Timeout(30, read=60)
"""The server says at least every few seconds that it is there; one that is silent for a minute is not."""
LAST = "run.finished"


@dataclass(frozen=True)
class Told:
    """An event as it was sent: its number, its kind, its JSON text."""

    seq: int
    kind: str
    text: str


def follow(http: httpx.Client, account: Account, path: str, after: int, wanted: Callable[[], bool]) -> Iterator[Told]:
    """To the last event; a connection that ends before goes on in another, after the number that came last.

    Raises:
        ServerError: there is no such run, the session has ended, or the server was not reached for half a minute.
    """
    failures, token, stale = 0, "", ""
    while wanted():
        try:
            token = account.bearer(stale)
            stale = ""
            for told in _one_connection(http, path, after, token, wanted):
                after, failures = told.seq, 0
                yield told
                if told.kind == LAST:
                    return
        except ServerError as error:
            if error.logged_out and token and not stale and failures == 0:
                stale = token
            elif error.status and error.status < 500:
                raise
            failures += 1
            if failures >= _ATTEMPTS:
                raise
        time.sleep(min(_PAUSE * 2 ** max(0, failures - 1), _LONGEST_PAUSE) if not stale else 0)


def _one_connection(
    http: httpx.Client, path: str, after: int, token: str, wanted: Callable[[], bool]
) -> Iterator[Told]:
    headers = {"Authorization": f"Bearer {token}", "Last-Event-ID": str(after)}
    try:
        with http.stream("GET", path, headers=headers, timeout=_SILENCE) as response:
            if not response.is_success:
                response.read()
                raise refused(response)
            yield from _events(response.iter_lines(), wanted)
    except httpx.HTTPError as error:
        raise unreached(str(http.base_url), error) from error


def _events(lines: Iterator[str], wanted: Callable[[], bool]) -> Iterator[Told]:
    """What lines of an event stream (WHATWG HTML, 9.2.6) tell. An event that was cut off is not told."""
    fields: dict[str, str] = {}
    for line in lines:
        if not wanted():
            return
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
            continue
        if fields.get("id", "").isdigit() and "data" in fields:
            yield Told(int(fields["id"]), fields.get("event", ""), fields["data"])
        fields = {}
