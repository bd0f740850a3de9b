"""Secrets as files: settings and named secrets are read from them, below the environment; their values are kept out of the log."""

import asyncio
from pathlib import Path

import pytest

from server.watching.secrecy import secrets_of
from wiring import secret_files
from wiring.named_secrets import read_secrets
from wiring.settings import read_settings

FILES = {
    "footpath_graph_password": "a-long-password\n",
    "footpath_vector_api_key": "from-file",
    "footpath_secret_weather": "key-of-weather\n",
    "footpath_secret_weather_hosts": "api.example.com\n",
    "footpath_secret_empty": "\n",
    "neo4j_auth": "neo4j/a-long-password",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in FILES.items():
        (tmp_path / name).write_text(value)
    monkeypatch.setattr(secret_files, "FOLDER", tmp_path)
    return tmp_path


def test_settings_are_read_from_files_below_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTPATH_VECTOR_API_KEY", "from-environment")
    settings = read_settings()
    assert settings.graph_password.get_secret_value() == "a-long-password"
    assert settings.vector_api_key.get_secret_value() == "from-environment"
    assert read_settings(graph_password="given").graph_password.get_secret_value() == "given"


async def test_named_secrets_and_their_hosts_are_read_from_files() -> None:
    secrets = await asyncio.to_thread(read_secrets)
    assert await secrets.get_value("weather", "api.example.com", 443, encrypted=True) == "key-of-weather"
    assert not await secrets.has("empty")


def test_what_files_hold_is_held_back_from_the_log() -> None:
    assert {"a-long-password", "key-of-weather"} <= set(secrets_of(read_settings(), secret_files.read_secret_files()))


def test_without_the_folder_nothing_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(secret_files, "FOLDER", tmp_path / "none")
    assert secret_files.read_secret_files() == {}
    assert read_settings().graph_password.get_secret_value() == ""
