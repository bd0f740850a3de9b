"""Data on the page: figures, what an import would bring, what verifying found, backups, and the job that goes on."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.unit.ui.served import HOSTILE, Served
from ui import places
from ui.client import Client

AT = "2026-11-28T00:00:00Z"
PLACE = {"kind": "sqlite", "bytes": 4_096_000}
FIGURES: dict[str, Any] = {
    "at": AT,
    "tools": {"total": 2, "categories": [{"name": HOSTILE, "count": 2}], "sources": [], "effects": {"reads": 2}, "callable": 1},
    "edges": {"total": 3, "imported": 3, "marks": {"ban": 1}},
    "availability": {"tenths": [0] * 9 + [1], "untested": 1},
    "kept": {"users": 4, "runs": 1234},
    "database": PLACE,
    "graph": PLACE,
    "vectors": {"kind": "embedded", "bytes": 10, "note": "bundled", "count": 2},
    "missing": {"memories": "it was not counted within 20 seconds"},
}  # fmt: skip
BACKUP = {"name": "2026-11-28-000000-abcdef", "at": AT, "bytes": 5_000_000, "tables": "0018", "checked": {"at": AT}}
STATE: dict[str, Any] = {"refused": "", "confirm": "store", "pending": None, "set_aside": []}


def job(kind: str, state: str = "done", **more: Any) -> dict[str, Any]:
    return {"id": "1", "kind": kind, "state": state, "by": "boss", "created_at": AT, "finished_at": AT} | more


def page(client: "Client") -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.screens.data import data

    data(client)


def shown(monkeypatch: pytest.MonkeyPatch, part: str, *jobs: dict[str, Any], **answers: Any) -> tuple[AppTest, Served]:
    def place(name: str) -> str:
        return part if name == "part" else ""

    monkeypatch.setattr(places, "place", place)
    usual = {
        "GET /jobs": {"jobs": [*jobs]},
        "GET /data/statistics": FIGURES,
        "GET /data/backups": [BACKUP],
        "GET /data/restore": STATE,
    }
    served = Served(usual | answers, "admin")
    return AppTest.from_function(page, default_timeout=30, kwargs={"client": served.client}).run(), served


def words(test: AppTest) -> str:
    drawn = [*test.markdown, *test.caption, *test.info, *test.warning, *test.error, *test.success]
    return "\n".join(str(one.value) for one in drawn)


def test_figures_are_told_and_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    test, _ = shown(monkeypatch, "")
    assert not test.exception
    assert {one.label: one.value for one in test.metric} == {"Tools": "2", "Users": "4", "Runs": "1,234"}
    assert "memories is missing" in words(test)
    assert "4\\.1 MB" in "\n".join(str(one) for each in test.table for one in each.value.to_numpy().flatten())


def test_what_would_come_is_shown_and_merged_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [{"file": "a.jsonl", "line": 7, "why": HOSTILE}]
    preview = {"tools": 3, "kept_out": 1, "skipped": 1, "first_skipped": left, "first_kept_out": []}
    result = {"import": "i", "preview": preview, "compared": {"new": 3, "taken_over": 0}}
    reading = job("import-reading", result=result, wanted={"files": ["a.jsonl"]})
    test, served = shown(monkeypatch, "import", reading, **{"POST /data/imports/i/merge": job("import", "queued")})
    assert not test.exception
    assert {one.label: one.value for one in test.metric}["New tools"] == "3"
    assert "<b>" not in words(test)
    test.checkbox[0].check().run()
    test.text_input(key="reason-i").set_value("they are ours").run()
    test.button(key="import-merge").click().run()
    assert [sent for key, sent in served.asked if key == "POST /data/imports/i/merge"] == [
        {"replace": False, "unchecked": True, "reason": "they are ours", "backup": True}
    ]


@pytest.mark.parametrize(
    ("backup", "told"),
    [
        (BACKUP["name"], "To undo it, restore the backup 2026-11-28-000000-abcdef under *Backups*"),
        ("", "No backup was made before it"),
    ],
)
def test_an_import_names_its_tools_and_the_way_back(monkeypatch: pytest.MonkeyPatch, backup: Any, told: str) -> None:
    ships = {"api": HOSTILE, "new": 7, "changed": 1, "names": ["list", "add"]}
    tools = {"new": 9, "changed": 1, "apis": 3, "first": [ships, {"api": "Port", "new": 2, "names": ["a", "b"]}]}
    result = {"import": "i", "backup": backup, "tools": tools, "summary": {"tools": 12}, "refused": 0}
    test, _ = shown(monkeypatch, "import", job("import", result=result))
    assert not test.exception
    said = words(test).replace("\\", "").replace("\u2060", "")
    assert told in said
    assert "9 new and 1 changed tools of 3 APIs:" in said
    assert "… 1 API more" in said
    cells = "\n".join(str(one) for each in test.table for one in each.value.to_numpy().flatten())
    assert "list, add and 6 more" in cells
    assert "<img" not in cells.replace("\\<", "")


def test_differences_say_what_they_are_and_are_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"equal": False, "vectors": {"missing": {"count": 2, "first": ["a/b/c", "a/b/d"]}}, "words": {}}
    test, served = shown(monkeypatch, "verify", job("verify", result=found), **{"POST /data/verify": job("verify")})
    assert "2 tools have no vectors" in words(test)
    test.button(key="mend").click().run()
    assert [sent for key, sent in served.asked if key == "POST /data/verify"] == [{"mend": True}]


def test_a_job_that_goes_on_keeps_others_from_being_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    going = job("backup", "running", what="import", done=5, total=10, lines=[HOSTILE])
    test, _ = shown(monkeypatch, "backups", going, **{"GET /jobs/1": going})
    assert not test.exception
    assert test.button(key="back-up").disabled
    assert [one.value for one in test.code] == [HOSTILE.replace("\u202e", "\\u202e")]
    assert test.button(key="cancel-1")


def test_who_restores_types_the_name_and_is_told_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    test, served = shown(monkeypatch, "backups", **{"POST /data/restore": job("restore", "queued")})
    assert test.button(key=f"restore-{BACKUP['name']}").disabled
    test.text_input(key=f"confirm-{BACKUP['name']}").set_value("store").run()
    test.button(key=f"restore-{BACKUP['name']}").click().run()
    assert [sent for key, sent in served.asked if key == "POST /data/restore"] == [
        {"backup": BACKUP["name"], "confirm": "store"}
    ]
    waiting = {"backup": "b", "backup_at": AT, "by": "boss", "tools": 3}
    test, _ = shown(monkeypatch, "backups", **{"GET /data/restore": STATE | {"pending": waiting}})
    assert "at its next start" in words(test)
