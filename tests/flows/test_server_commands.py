"""The server's commands, as processes: what they print, how they end, and that a server serves what they made."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support import forked_commands
from tests.support.forked_commands import Command
from tests.support.server_process import PASSWORD, ROOT, started


def command(
    script: str, *arguments: str, home: Path, given: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    return forked_commands.run(
        [sys.executable, "-W", "error", str(ROOT / "scripts" / script), *arguments],
        given=given,
        env=environment(home) | variables,
        cwd=home.parent,
        timeout=200,
    )


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "FOOTPATH_SERVER_HOME": str(home), "PYTHONPATH": str(ROOT)}


@contextmanager
def serving(home: Path) -> Generator[tuple[str, Command]]:
    with (home.parent / "log").open("w") as log, started(environment(home), home.parent, log) as server:
        yield server


def test_an_administrator_is_made_and_can_log_in(tmp_path: Path) -> None:
    home = tmp_path / "home"
    made = command("create_user.py", "boss", "--json", home=home, given=PASSWORD + "\n")
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["role"] == "admin"
    second = command("create_user.py", "ada", "--json", home=home, given=PASSWORD + "\n")
    assert json.loads(second.stdout)["role"] == "user"
    with serving(home) as (address, process):
        login = httpx.post(f"{address}/api/v1/auth/login", json={"name": "boss", "password": PASSWORD}, timeout=100)
        assert login.status_code == 200, login.text
        headers = {"Authorization": f"Bearer {login.json()['access_token']}"}
        assert httpx.get(f"{address}/api/v1/users", headers=headers, timeout=100).status_code == 200
        rotated = command("rotate_keys.py", "--json", home=home)
        assert json.loads(rotated.stdout) == {"sealed": 0, "forgotten": 0}
        process.send_signal(signal.SIGTERM)
        process.wait(120)
    told = (tmp_path / "log").read_text()
    assert "holds no store of tools" in told
    assert "may make an account" in told


def test_a_users_key_survives_a_rotation(tmp_path: Path) -> None:
    home = tmp_path / "home"
    command("create_user.py", "ada", "--role", "user", home=home, NEW_USER_PASSWORD=PASSWORD)
    with serving(home) as (address, _):
        login = httpx.post(f"{address}/api/v1/auth/login", json={"name": "ada", "password": PASSWORD}, timeout=100)
        headers = {"Authorization": f"Bearer {login.json()['access_token']}"}
        body = {"value": "sk-1", "hosts": ["api.example.com"]}
        assert httpx.put(f"{address}/api/v1/me/tool-keys/w", json=body, headers=headers, timeout=100).status_code == 200
    done = command("rotate_keys.py", "--forget", "--json", home=home)
    assert json.loads(done.stdout) == {"sealed": 1, "forgotten": 1}
    assert b"sk-1" not in b"".join(file.read_bytes() for file in home.iterdir() if file.is_file())


@pytest.mark.parametrize(
    ("script", "arguments", "given", "variables", "code", "says"),
    [
        ("create_user.py", ["boss"], "short\n", {}, 2, "password cannot be used: it must have at least 8 characters"),
        ("create_user.py", ["no good"], PASSWORD, {}, 2, "name cannot be used"),
        ("create_user.py", ["boss", "--role", "king"], PASSWORD, {}, 2, "king"),
        (
            "serve.py",
            ["--port", "0"],
            "",
            {"FOOTPATH_DATABASE_URL": "mysql://u:hidden@h/d"},
            2,
            "postgresql+asyncpg://",
        ),
        ("serve.py", ["--port", "0"], "", {"FOOTPATH_VAULT_KEYS": "hidden"}, 2, "VERSION:BASE64"),
        ("serve.py", ["--port", "99999"], "", {}, 3, "--port"),
        ("up.py", ["--store", "new", "--server-port", "99999"], "", {}, 3, "--server-port"),
        ("up.py", ["--playground-port", "99999"], "", {}, 3, "--playground-port a number from 0"),
        (
            "migrate.py",
            [],
            "",
            {"FOOTPATH_DATABASE_URL": "postgresql+asyncpg://u:hidden@127.0.0.1:1/d"},
            3,
            "not reached",
        ),
        ("rotate_keys.py", [], "", {"FOOTPATH_VAULT_KEYS": "1:hidden"}, 2, "VERSION:BASE64"),
    ],
)
def test_what_cannot_be_done_is_told(
    tmp_path: Path, script: str, arguments: list[str], given: str, variables: dict[str, str], code: int, says: str
) -> None:
    done = command(script, *arguments, home=tmp_path / "home", given=given, **variables)
    assert done.returncode == code, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert "hidden" not in done.stderr


def test_migrating_says_what_it_did(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first, second = command("migrate.py", "--json", home=home), command("migrate.py", "--json", home=home)
    assert json.loads(first.stdout)["before"] is None
    assert (
        json.loads(second.stdout)["before"] == json.loads(second.stdout)["after"] == json.loads(first.stdout)["after"]
    )
