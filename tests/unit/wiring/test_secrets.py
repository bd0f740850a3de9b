"""Secrets from where settings come from: the environment wins over the file, unless it is empty."""

import asyncio
from pathlib import Path

import pytest

from wiring.named_secrets import read_secrets
from wiring.settings import Settings, read_settings


async def test_environment_and_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / ".env"
    file.write_text(
        "FOOTPATH_SECRET_ONE=from-file\nfootpath_secret_two='with $dollar ${HOME}'\nFOOTPATH_SECRET_ONE_HOSTS=a.example\n"
        "FOOTPATH_SECRET_TWO_HOSTS=a.example\nFOOTPATH_SECRET_THREE=kept\nFOOTPATH_SECRET_THREE_HOSTS=a.example\n"
    )
    monkeypatch.setitem(Settings.model_config, "env_file", str(file))
    monkeypatch.setenv("FOOTPATH_SECRET_ONE", "from-environment")
    monkeypatch.setenv("FOOTPATH_SECRET_THREE", "")
    found = await asyncio.to_thread(read_secrets)
    values = [await found.get_value(name, "a.example", 443, encrypted=True) for name in ("one", "two", "three", "four")]
    assert values == ["from-environment", "with $dollar ${HOME}", "kept", None]
    assert "from-environment" not in repr(found)
    assert "kept" not in repr(await asyncio.to_thread(read_settings))


async def test_without_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(Settings.model_config, "env_file", str(tmp_path / "none"))
    assert not await (await asyncio.to_thread(read_secrets)).has("one")
