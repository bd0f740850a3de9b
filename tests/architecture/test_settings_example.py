"""``.env.example`` is the reference of the settings: the same names, the same defaults, a line of explanation each."""

import pytest
from pydantic_settings import BaseSettings

from tests.support.source_tree import ROOT
from wiring.settings import Settings


def entries() -> dict[str, tuple[str, str]]:
    """``FOOTPATH_NAME`` to (value, explanation), from lines ``# explanation`` and ``# FOOTPATH_NAME=value``."""
    found: dict[str, tuple[str, str]] = {}
    explanation = ""
    for line in (ROOT / ".env.example").read_text(encoding="utf-8").splitlines():
        text = line.removeprefix("#").strip()
        if text.startswith("FOOTPATH_"):
            name, _, value = text.partition("=")
            assert name not in found, f"{name} is listed twice"
            found[name] = (value, explanation)
            explanation = ""
        else:
            explanation = text
    return found


def test_it_lists_every_setting_and_no_other() -> None:
    assert set(entries()) == {f"FOOTPATH_{name.upper()}" for name in Settings.model_fields}


def test_every_setting_is_explained() -> None:
    assert [name for name, (_, explanation) in entries().items() if len(explanation) < 10] == []
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_uncommented_it_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults: BaseSettings = Settings()
    for name, (value, _) in entries().items():
        if value:
            monkeypatch.setenv(name, value)
    assert Settings() == defaults
