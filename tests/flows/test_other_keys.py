"""Two servers with keys of their own on one database: the second does not start, and says what to do."""

import os
import sys
from pathlib import Path

import pytest

from server.storage.database import build_sqlite_url
from tests.support import forked_commands
from tests.support.server_process import ROOT, registered, started

pytestmark = pytest.mark.timeout(200)


def settings(home: Path, rows: Path) -> dict[str, str]:
    return {
        "FOOTPATH_SERVER_HOME": str(home),
        "FOOTPATH_DATABASE_URL": build_sqlite_url(rows),
        "FOOTPATH_STORE": str(home / "no store"),
        "PYTHONPATH": str(ROOT),
    }


def test_a_server_with_keys_of_its_own_is_refused_at_its_start(tmp_path: Path) -> None:
    rows = tmp_path / "rows.db"
    with started(settings(tmp_path / "one", rows), tmp_path) as (address, _):
        ada = registered(address)
        key = {"value": "a value", "hosts": ["weather.example"]}
        assert ada.call("PUT", "/me/tool-keys/weather", key).status_code == 200
        command = [sys.executable, str(ROOT / "scripts" / "serve.py"), "--port", "0"]
        other = {**os.environ, **settings(tmp_path / "other", rows)}
        refused = forked_commands.run(command, env=other, cwd=tmp_path, timeout=60)
        assert refused.returncode == 3
        assert refused.stderr.strip().count("\n") == 0, refused.stderr
        assert "this server's vault key 1 is not the one of its database" in refused.stderr
        assert "FOOTPATH_VAULT_KEYS" in refused.stderr
        same = settings(tmp_path / "third", rows)
        (tmp_path / "third").mkdir()
        (tmp_path / "third" / "vault.keys").write_bytes((tmp_path / "one" / "vault.keys").read_bytes())
        (tmp_path / "third" / "vault.keys").chmod(0o600)
        with started(same, tmp_path) as (second, _):
            assert ada.at(second).call("GET", "/me/tool-keys").json()[0]["name"] == "weather"
