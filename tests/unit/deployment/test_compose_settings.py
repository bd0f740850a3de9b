"""Every setting reaches the containers, secrets as files only: what ``make secrets`` makes is what the application reads."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from ruamel.yaml import YAML

from server.storage.storage import resolve_database_url
from tests.unit.deployment.commands import script
from tests.unit.deployment.test_compose import FILE, compose
from wiring import secret_files
from wiring.settings import EXAMPLE_PASSWORDS, Settings, read_settings

FIXED = {"store", "server_home", "graph_url", "vector_url"}
"""Where things are in the containers."""
OTHERWISE = {"environment": "production", "hosts": "localhost,server", "registration": "invited"}
"""Other in containers than by default: stricter, and by the name that the page asks for."""
SECRETS = {name for name, field in Settings.model_fields.items() if field.annotation is SecretStr}


PAGE = {"FOOTPATH_PAGE_PROXIES", "HOME"}
"""What the one container passes to its page as well."""


@pytest.mark.parametrize("service", ["app", "server", "small"])
def test_every_setting_that_is_no_secret_is_passed_and_no_other(service: str) -> None:
    passed = compose()["services"][service]["environment"]
    passed = {name: value for name, value in passed.items() if service != "small" or name not in PAGE}
    wanted = {f"FOOTPATH_{name.upper()}" for name in set(Settings.model_fields) - SECRETS}
    assert set(passed) == wanted, "docker-compose.yml passes each setting by a line in x-settings"
    for name in wanted - {f"FOOTPATH_{name.upper()}" for name in {*FIXED, "trusted_proxies"}}:
        default = OTHERWISE.get(name.removeprefix("FOOTPATH_").lower(), "")
        assert passed[name] == f"${{{name}:-{default}}}"


def test_unset_variables_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compose passes an empty text for what is not set."""
    for name, value in compose()["services"]["server"]["environment"].items():
        monkeypatch.setenv(name, re.sub(r"\$\{[A-Z0-9_]+:-([^{}]*)\}", r"\1", value) if "${" in value else value)
    monkeypatch.setenv("FOOTPATH_TRUSTED_PROXIES", "127.0.0.1")
    plain = Settings.model_construct()
    changed = {name for name in Settings.model_fields if getattr(read_settings(), name) != getattr(plain, name)}
    assert changed == {*FIXED, *OTHERWISE, "trusted_proxies"}


def test_no_secret_is_in_the_file_or_in_an_environment() -> None:
    assert {
        "graph_password",
        "vector_api_key",
        "model_api_key",
        "embedding_api_key",
        "vault_keys",
        "database_url",
    } <= SECRETS
    for service in compose()["services"].values():
        for name, value in service["environment"].items():
            if re.search(r"(PASSWORD|KEY|AUTH(?!OR)|SECRET|DATABASE_URL)", name):
                assert name.endswith("_FILE")
                assert value.startswith("/run/secrets/")
    assert not re.search(r"\$\{\w*(PASSWORD|API_KEY|VAULT)", FILE.read_text())


def test_what_is_made_is_what_everybody_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "secrets"
    assert script("make_secrets.py", "--folder", str(folder)).returncode == 0
    monkeypatch.setattr(secret_files, "FOLDER", folder / "footpath")
    monkeypatch.setenv("FOOTPATH_ENVIRONMENT", "production")
    settings = read_settings()
    password, key = settings.graph_password.get_secret_value(), settings.vector_api_key.get_secret_value()
    assert (folder / "neo4j_auth").read_text() == f"neo4j/{password}"
    assert YAML(typ="safe").load(folder / "qdrant.yaml") == {"service": {"api_key": key}}  # pyright: ignore[reportUnknownMemberType]
    rows = (folder / "postgres_password").read_text()
    assert resolve_database_url(settings) == f"postgresql+asyncpg://footpath:{rows}@postgres/footpath"
    assert len({password, key, rows}) == 3
    assert min(map(len, (password, key, rows))) >= 40
    assert {"neo4j", "password", "changeme"} <= EXAMPLE_PASSWORDS


def test_nobody_else_gets_into_the_folder_and_containers_read_its_files(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    script("make_secrets.py", "--folder", str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert len(files) == 6
    assert {file.stat().st_mode & 0o777 for file in files} == {0o644}


def test_what_is_there_is_not_made_again(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    script("make_secrets.py", "--folder", str(folder))
    before = {file: file.read_text() for file in folder.rglob("*") if file.is_file()}
    done = script("make_secrets.py", "--folder", str(folder))
    assert done.returncode == 2
    assert "nothing is changed" in done.stderr
    assert {file: file.read_text() for file in folder.rglob("*") if file.is_file()} == before


def test_they_are_no_part_of_the_repository_or_of_the_image() -> None:
    found = compose()
    assert "docker/secrets/" in (FILE.parent / ".gitignore").read_text().split()
    assert not [line for line in (FILE.parent / ".dockerignore").read_text().split() if line.startswith("!docker")]
    files = [secret["file"] for secret in found["secrets"].values()]
    bound: list[dict[str, Any]] = [one for one in found["services"]["server"]["volumes"] if not isinstance(one, str)]
    assert all(path.startswith("./docker/secrets/") for path in [*files, *(one["source"] for one in bound)])
    assert [one["read_only"] for one in bound] == [True]
    assert [one["target"] for one in bound] == [str(secret_files.FOLDER)]
