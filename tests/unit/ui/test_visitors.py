"""Whose address the page tells the server: the browser's, and nobody's who only says so."""

import httpx
import pytest
from streamlit.testing.v1 import AppTest

from domain.plan import PlanDocument
from tests.unit.ui.served import Served
from ui.client import Client
from ui.reruns import Content, WholeTemplate
from ui.session import visitor_address


@pytest.mark.parametrize(
    ("peer", "forwarded", "proxies", "told"),
    [
        ("", [], "", ""),
        ("192.0.2.7", [], "", "192.0.2.7"),
        ("192.0.2.7", ["203.0.113.9"], "", "192.0.2.7"),
        ("", ["203.0.113.9"], "", ""),
        ("", ["1.1.1.1, 203.0.113.9"], "127.0.0.1", "203.0.113.9"),
        ("172.29.97.1", ["203.0.113.9"], "172.29.97.1", "203.0.113.9"),
        ("172.29.97.1", ["nonsense"], "172.29.97.1", "172.29.97.1"),
    ],
)
def test_the_browsers_address(peer: str, forwarded: list[str], proxies: str, told: str) -> None:
    assert visitor_address(peer, forwarded, proxies) == told


@pytest.mark.parametrize(
    ("own", "taken", "newer"), [(True, None, None), (False, None, None), (False, 1, 2), (False, 2, None)]
)
def test_a_newer_version_is_offered_to_who_runs_an_older_one(own: bool, taken: int | None, newer: int | None) -> None:
    content = Content(version=taken or 2, document=PlanDocument(steps=()))
    found = WholeTemplate(id="x", name="x", own=own, version=2, taken=taken, content=content)
    assert found.newer == newer


def leaves(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui import session

    session.enter(client)
    session.leave()


@pytest.mark.parametrize(("status", "toasts"), [(401, 0), (503, 1), (204, 0)])
def test_who_leaves_is_told_that_the_server_was_not_unless_it_had_ended_the_session_itself(
    status: int, toasts: int
) -> None:
    served = Served({}, answer=lambda _: httpx.Response(status, json={"code": "some", "detail": "no"}))
    test = AppTest.from_function(leaves, default_timeout=30, kwargs={"client": served.client}).run()
    assert not test.exception
    assert len(test.toast) == toasts
