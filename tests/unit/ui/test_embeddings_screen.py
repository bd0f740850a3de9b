"""Embeddings on the page: nothing prepared, in progress, ready, stopped, failed, switched; and what is done there."""

from typing import Any

import httpx
from streamlit.testing.v1 import AppTest

from tests.unit.ui.served import HOSTILE, Served
from ui.client import Client

OLD, NEW = "footpath-minilm-3:865c:text1:384", "service:bge-m3:text1:1024"
IN_USE = {"key": "bundled", "name": "", "identity": OLD, "dimension": 384, "at": None}
OTHER = {"key": "service:s1", "name": HOSTILE, "identity": NEW, "dimension": 1024, "at": "2026-11-28T10:00:00Z"}
CHOICES = [
    {"key": "bundled", "kind": "bundled", "identity": OLD, "dimension": 384, "bytes": 23_000_000},
    {"key": "service:s1", "kind": "service", "name": "bge", "identity": NEW, "dimension": 1024, "price": 0.02, "seconds": 0.2},
    {"key": "service:s2", "kind": "service", "name": "away", "unusable": "the service is off line: put it on line first"},
]  # fmt: skip
FIGURES = {
    "identity": OLD, "dimension": 384, "recall8": 0.8, "recall16": 0.9, "complete8": 0.7, "complete16": 0.8,
    "seconds": 0.02, "seconds95": 0.04, "bytes": 6_900_000, "reranked": True, "cost": None,
}  # fmt: skip
EXAMPLE = {"request": HOSTILE, "needed": ["films/search/find_film"], "old": [None], "new": [3]}
COMPARISON = {
    "old": FIGURES, "new": FIGURES | {"recall16": 0.95, "reranked": False, "cost": 0.00002}, "requests": 40,
    "origins": {"memory": 30, "made": 10}, "overlap": 0.7, "gained": 3, "lost": 0, "gains": [EXAMPLE], "unshown": 2,
}  # fmt: skip
JOB = {"id": "j1", "state": "running", "what": "vectors", "done": 512, "total": 4500, "by": "boss", "created_at": "2026-11-28T10:00:00Z"}  # fmt: skip
NOTHING = {"tools": 4500, "in_use": IN_USE, "choices": CHOICES}


def page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.embeddings import all_embeddings

    all_embeddings(client)


def shown(state: dict[str, Any], **answers: Any) -> tuple[AppTest, Served]:
    served = Served({"GET /embeddings": NOTHING | state, "GET /jobs/j1": JOB} | answers, "admin")
    return AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client}).run(), served


def texts(test: AppTest) -> str:
    found = [one.value for kind in (test.error, test.warning, test.info, test.success, test.caption) for one in kind]
    return "\n".join([*found, *(str(one) for each in test.table for one in each.value.to_numpy().flatten())])


def labels(test: AppTest) -> list[str]:
    return [one.label for one in test.button]


def test_nothing_prepared_shows_what_may_be_chosen_and_begins() -> None:
    test, served = shown({}, **{"POST /embeddings/prepare": JOB})
    assert not test.exception
    assert "off line" in texts(test)
    assert test.selectbox[0].options == ["bge"], "what is in use, and what cannot be used, is not offered"
    test.button(key="embeddings-Prepare").click().run()
    assert served.asked == [("POST /embeddings/prepare", {"encoder": "service:s1"})]


def test_what_the_server_says_against_it_is_shown() -> None:
    refused = httpx.Response(409, json={"code": "conflict", "detail": "another job works on the same just now"})
    test, _ = shown({}, **{"POST /embeddings/prepare": refused})
    test.button(key="embeddings-Prepare").click().run()
    assert "another job works" in texts(test)


def test_without_another_encoder_or_without_tools_it_says_how_they_come() -> None:
    assert "Set up an embedding service" in texts(shown({"choices": CHOICES[:1]})[0])
    empty, _ = shown({"in_use": None})
    assert "Import tools" in texts(empty)
    assert labels(empty) == []


def test_progress_is_told_and_can_be_cancelled() -> None:
    test, served = shown({"job": JOB, "beside": OTHER}, **{"POST /jobs/j1/cancel": {}})
    assert not test.exception
    assert labels(test) == ["Cancel"]
    test.button(key="cancel-j1").click().run()
    assert served.asked == [("POST /jobs/j1/cancel", None)]


def test_what_stopped_or_failed_says_why_and_goes_on() -> None:
    failed = JOB | {"state": "failed", "trouble": "nothing answers at http://models/v1"}
    test, served = shown({"job": failed, "beside": OTHER}, **{"POST /embeddings/prepare": JOB})
    assert "nothing answers" in texts(test)
    assert labels(test) == ["Go on", "Discard"]
    test.button(key="embeddings-Go on").click().run()
    assert served.asked == [("POST /embeddings/prepare", {"encoder": "service:s1"})]


def test_a_comparison_is_laid_out_and_switched_by() -> None:
    ready = {"beside": OTHER, "ready": True, "comparison": COMPARISON}
    test, served = shown(ready, **{"POST /embeddings/switch": {}})
    assert not test.exception
    said = texts(test)
    assert "95 instead of 90 of 100 tools" in said
    assert "served before" in said
    assert "not offered → 3" in said
    assert "**loud**" not in said
    assert "learnt with the encoder in use" in said
    assert labels(test) == ["Switch", "Compare again", "Discard"]
    test.button(key="embeddings-Switch").click().run()
    assert served.asked == [("POST /embeddings/switch", None)]
    assert "you can switch back" in texts(test)


def test_after_a_switch_one_can_go_back_or_delete() -> None:
    test, served = shown({"former": OTHER}, **{"POST /embeddings/switch-back": {}, "DELETE /embeddings/former": {}})
    assert "Prepare" not in labels(test)
    test.button(key="embeddings-Switch back").click().run()
    test.button(key="embeddings-Delete them").click().run()
    assert [asked for asked, _ in served.asked] == ["POST /embeddings/switch-back", "DELETE /embeddings/former"]
