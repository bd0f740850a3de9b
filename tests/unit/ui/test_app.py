"""The page's script as Streamlit runs it, and its connections."""

import gc
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import ui.client
from tests.support.source_tree import ROOT


def test_what_was_imported_is_no_garbage_to_be_looked_through_after_each_drawing() -> None:
    st.cache_resource.clear()
    gc.unfreeze()
    try:
        page = AppTest.from_file(str(ROOT / "ui" / "app.py"), default_timeout=60).run()
        imported = gc.get_freeze_count()
        assert imported > 10_000
        page.run()
        assert gc.get_freeze_count() <= imported
    finally:
        gc.unfreeze()


def test_authorities_are_read_once_for_all_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    true, read = ui.client.httpx.create_ssl_context, list[dict[str, Any]]()

    def reading(**named: Any) -> Any:
        read.append(named)
        return true(**named)

    monkeypatch.setattr(ui.client.httpx, "create_ssl_context", reading)
    ui.client.authorities.cache_clear()
    for _ in range(3):
        ui.client.opened("http://127.0.0.1:1").close()
    assert len(read) == 1
