"""Writes the bill of materials of a lock file: every package that Footpath is installed with, as CycloneDX JSON."""

import json
import os
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _lock_files import Locked, locked

ROOT = Path(__file__).resolve().parents[1]


def main(
    lock: Annotated[Path, typer.Option(help="The lock file.")] = ROOT / "requirements.lock",
    output: Annotated[Path, typer.Option(help="Where it is written.")] = ROOT / "build" / "sbom.cdx.json",
) -> None:
    """The same lock gives the same bytes: no random number and no time is in it, unless SOURCE_DATE_EPOCH gives the time."""
    packages = locked(lock)
    text = written(packages)
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text + "\n", encoding="utf-8")
    print(f"{output}: {len(packages)} packages of {lock.name}")


def written(packages: list[Locked]) -> str:
    """The document, checked against CycloneDX's own schema."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    text = json.dumps(_bill(packages), indent=2)
    if (wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)) is not None:
        raise AssertionError(f"not as CycloneDX 1.6 has it: {wrong}")
    return text


def _bill(packages: list[Locked]) -> dict[str, Any]:
    footpath = _footpath()
    components = [_component(package) for package in packages]
    metadata: dict[str, Any] = {"component": footpath}
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        metadata["timestamp"] = datetime.fromtimestamp(int(epoch), UTC).isoformat()
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": metadata,
        "components": components,
        "dependencies": [
            {
                "ref": who["bom-ref"],
                "dependsOn": [_address(package) for package in packages if who["name"] in package.asked_by],
            }
            for who in [footpath, *components]
        ],
    }


def _footpath() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "type": "application",
        "bom-ref": f"{project['name']}@{project['version']}",
        "name": project["name"],
        "version": project["version"],
        "licenses": [{"expression": project["license"]}],
    }


def _component(package: Locked) -> dict[str, Any]:
    """The hashes are those of the files of which one is installed: wheels for several machines, and the source."""
    found: dict[str, Any] = {
        "type": "library",
        "bom-ref": _address(package),
        "name": package.name,
        "version": package.version,
        "purl": _address(package),
        "externalReferences": [
            {
                "type": "distribution",
                "url": _address(package),
                "comment": "the files that the lock allows",
                "hashes": [{"alg": "SHA-256", "content": digest} for digest in package.hashes],
            }
        ],
    }
    if package.marker:
        found["properties"] = [{"name": "footpath:marker", "value": package.marker}]
    return found


def _address(package: Locked) -> str:
    """The package URL, which every scanner of such documents reads."""
    return f"pkg:pypi/{package.name}@{package.version}"


if __name__ == "__main__":
    typer.run(main)
