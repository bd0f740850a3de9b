"""Settings that cannot be used are told by name, without their values."""

import pytest
from pydantic import Field, SecretStr, ValidationError

from domain.errors import UsageError
from wiring.settings import EXAMPLE_PASSWORDS, Settings, read_settings


class WithPassword(Settings):
    some_password: SecretStr = Field(default=SecretStr(""))


@pytest.mark.parametrize("password", [*sorted(EXAMPLE_PASSWORDS), "Password", " neo4j "])
def test_example_passwords_are_refused_in_production(monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    monkeypatch.setenv("FOOTPATH_SOME_PASSWORD", password)
    assert WithPassword().some_password.get_secret_value() == password
    monkeypatch.setenv("FOOTPATH_ENVIRONMENT", "production")
    with pytest.raises(ValidationError, match="FOOTPATH_SOME_PASSWORD is a password that stands in examples"):
        WithPassword()


def test_other_passwords_and_none_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTPATH_ENVIRONMENT", "production")
    assert WithPassword().some_password.get_secret_value() == ""
    monkeypatch.setenv("FOOTPATH_SOME_PASSWORD", "not in any list")
    assert WithPassword().environment == "production"


def test_errors_show_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTPATH_SOME_PASSWORD", "a real one")
    monkeypatch.setenv("FOOTPATH_CANDIDATES", "0")
    with pytest.raises(ValidationError) as caught:
        WithPassword()
    assert "a real one" not in str(caught.value)


def test_wrong_settings_are_wrong_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTPATH_CANDIDATES", "0")
    monkeypatch.setenv("FOOTPATH_ENVIRONMENT", "staging")
    with pytest.raises(UsageError) as caught:
        read_settings()
    assert "FOOTPATH_CANDIDATES: " in str(caught.value)
    assert "FOOTPATH_ENVIRONMENT: " in str(caught.value)
