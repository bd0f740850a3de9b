"""Following over connections that break and tokens that end."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from ui.account import Account
from ui.problems import ServerError
from ui.replies import LoggedIn
from ui.stream import follow

_LINES = {number: f"id: {number}\nevent: answer.delta\ndata: {{}}\n\n" for number in (1, 2)}
_LINES[3] = "id: 3\nevent: run.finished\ndata: {}\n\n"


class Stand:
    """Answers requests one after the other with what it was given, and keeps them."""

    def __init__(self, *answers: httpx.Response) -> None:
        self._answers = list(answers)
        self.asked: list[httpx.Request] = []
        self.refreshed = 0

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/refresh"):
            self.refreshed += 1
            return httpx.Response(200, json=tokens(f"new{self.refreshed}"))
        self.asked.append(request)
        return self._answers.pop(0)


def tokens(access: str, minutes: float = 15) -> dict[str, object]:
    end = (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat()
    return {"access_token": access, "refresh_token": "r", "access_expires_at": end, "user": {"id": "u", "name": "ada"}}


def followed(stand: Stand, after: int = 0, minutes: float = 15, wanted: Callable[[], bool] = lambda: True) -> list[int]:
    with httpx.Client(transport=httpx.MockTransport(stand), base_url="http://server/api/v1") as http:
        account = Account(http, LoggedIn.model_validate(tokens("old", minutes)))
        return [told.seq for told in follow(http, account, "/runs/r/events", after, wanted)]


def sent(*numbers: int, more: str = "") -> httpx.Response:
    return httpx.Response(200, text="retry: 1000\n\n" + "".join(_LINES[number] for number in numbers) + more)


def problem(status: int) -> httpx.Response:
    return httpx.Response(status, json={"code": "x", "detail": "no such run"})


def test_a_stream_that_breaks_goes_on_after_the_last_event() -> None:
    stand = Stand(sent(1, 2, more="id: 3\nevent: run.fin"), sent(3))
    assert followed(stand) == [1, 2, 3]
    assert [request.headers["Last-Event-ID"] for request in stand.asked] == ["0", "2"]


def test_comments_between_events_are_no_events() -> None:
    assert followed(Stand(httpx.Response(200, text=": still here\n\n" + _LINES[3]))) == [3]


def test_a_token_that_is_refused_is_renewed_once() -> None:
    stand = Stand(problem(401), sent(3))
    assert followed(stand) == [3]
    assert [request.headers["Authorization"] for request in stand.asked] == ["Bearer old", "Bearer new1"]
    with pytest.raises(ServerError) as refused:
        followed(Stand(problem(401), problem(401)))
    assert refused.value.logged_out


def test_a_token_that_is_about_to_end_is_renewed_before() -> None:
    stand = Stand(sent(3))
    assert followed(stand, minutes=0.1) == [3]
    assert stand.asked[0].headers["Authorization"] == "Bearer new1"


def test_a_run_that_is_not_there_is_not_asked_for_again() -> None:
    stand = Stand(problem(404))
    with pytest.raises(ServerError, match="no such run"):
        followed(stand)
    assert len(stand.asked) == 1


def test_a_server_that_fails_is_asked_again() -> None:
    assert followed(Stand(problem(503), sent(1, 2, 3))) == [1, 2, 3]


def test_who_no_longer_wants_events_gets_no_more() -> None:
    left = iter([True, True, True, True, False, False])
    assert len(followed(Stand(sent(1, 2, 3)), wanted=lambda: next(left, False))) < 3
