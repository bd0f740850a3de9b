"""The bill of materials tells what the lock pins, is what CycloneDX allows, and is the same each time."""

import json
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.unit.deployment.commands import ROOT, script

LOCK = ROOT / "requirements.lock"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("sbom") / "sbom.json"
    done = script("write_sbom.py", "--output", str(file))
    assert done.returncode == 0, done.stderr
    return file.read_text()


@pytest.fixture(scope="module")
def bill(text: str) -> dict[str, Any]:
    return json.loads(text)


def test_it_is_what_the_schema_allows_and_the_check_can_fail(text: str, bill: dict[str, Any]) -> None:
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    assert validator.validate_str(json.dumps(bill | {"components": [{"type": "library"}]})) is not None


def test_every_package_of_the_lock_is_in_it_with_its_hashes(bill: dict[str, Any]) -> None:
    pins = [line.split(" ")[0] for line in LOCK.read_text().splitlines() if "==" in line and line[0] not in " #"]
    found = [f"{part['name']}=={part['version']}" for part in bill["components"]]
    assert len(pins) > 50
    assert sorted(found) == sorted(pins)
    hashes = [one["content"] for part in bill["components"] for one in part["externalReferences"][0]["hashes"]]
    assert sorted(hashes) == sorted(word[14:] for word in LOCK.read_text().split() if word.startswith("--hash=sha256:"))


def test_it_tells_who_needs_what(bill: dict[str, Any]) -> None:
    names = {part["bom-ref"]: part["name"] for part in [*bill["components"], bill["metadata"]["component"]]}
    needs = {names[one["ref"]]: {names[ref] for ref in one.get("dependsOn", [])} for one in bill["dependencies"]}
    assert {"fastapi", "neo4j", "streamlit"} <= needs["footpath"]
    assert "starlette" in needs["fastapi"]
    assert "starlette" not in needs["footpath"]


def test_the_same_lock_gives_the_same_bytes(text: str, tmp_path: Path) -> None:
    again = tmp_path / "again.json"
    assert script("write_sbom.py", "--output", str(again)).returncode == 0
    assert again.read_text() == text
    assert "timestamp" not in json.loads(text)["metadata"]
    assert script("write_sbom.py", "--output", str(again), SOURCE_DATE_EPOCH="1700000000").returncode == 0
    assert json.loads(again.read_text())["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
