"""``--server`` is for relative servers; what a document names itself is kept, and that is told."""

import json
from pathlib import Path

import pytest

from graph.input_files import find_own_addresses


@pytest.mark.parametrize(
    ("servers", "kept"),
    [
        ([{"url": "http://127.0.0.1:8765"}], ("http://127.0.0.1:8765",)),
        ([{"url": "/v1"}], ()),
        ([{"url": "http://other.test:1/v1"}], ()),
        ([], ()),
    ],
)
def test_absolute_servers_are_named(servers: list[dict[str, str]], kept: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "openapi.json"
    operation = {"operationId": "a", "summary": "A", "responses": {"200": {"description": "ok"}}}
    document = {"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "servers": servers, "paths": {"/a": {"get": operation}}}  # fmt: skip
    file.write_text(json.dumps(document), encoding="utf-8")
    assert find_own_addresses([file], "http://other.test:1") == kept
    assert find_own_addresses([file], "") == ()
