"""One version of each server everywhere: the Compose file names it, and tests, image and documents follow."""

import re
from pathlib import Path

import pytest

from graph.backends.neo4j_connection import OLDEST_VERSION as OLDEST_NEO4J
from retriever.backends.qdrant_connection import MIN_SERVER_VERSION as OLDEST_QDRANT
from tests.support.deployed_versions import deployed_version

ROOT = Path(__file__).resolve().parents[3]
UPGRADING = (ROOT / "docs" / "upgrading.md").read_text(encoding="utf-8")
BACKWARD = 2
"""Minor versions of a server below its own that Qdrant's client is tested with by its makers: "the latest 3"."""


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def locked_version(package: str) -> str:
    found = re.search(rf"^{package}==(\S+)", (ROOT / "requirements.lock").read_text(), re.M)
    assert found
    return found[1]


def test_the_tests_neo4j_is_the_one_that_is_deployed() -> None:
    pom = (ROOT / "tests" / "servers" / "neo4j" / "pom.xml").read_text()
    [version] = re.findall(r"<artifactId>neo4j</artifactId>\s*<version>([\d.]+)</version>", pom)
    assert version == deployed_version("neo4j")


def test_the_client_in_the_lock_knows_the_qdrant_that_is_deployed() -> None:
    client, server = numbers(locked_version("qdrant-client")), numbers(deployed_version("qdrant"))
    assert client[0] == server[0]
    assert client[1] - BACKWARD <= server[1] <= client[1]


def test_the_deployed_qdrant_has_no_hole_that_was_mended_within_its_minor_version() -> None:
    """1.18.2 mends those of 1.18."""
    assert numbers(deployed_version("qdrant")) >= (1, 18, 2)


def test_the_image_dumps_rows_by_the_programs_of_the_deployed_postgres() -> None:
    dockerfile = (ROOT / "docker" / "Dockerfile").read_text()
    [version] = re.findall(r"^FROM postgres:([\d.]+)", dockerfile, re.M)
    assert version == deployed_version("postgres")


@pytest.mark.parametrize(
    ("service", "name", "oldest"),
    [("neo4j", "Neo4j", OLDEST_NEO4J), ("qdrant", "Qdrant", OLDEST_QDRANT), ("postgres", "PostgreSQL", (15,))],
)
def test_the_document_has_the_version_and_the_oldest(service: str, name: str, oldest: tuple[int, ...]) -> None:
    [row] = re.findall(rf"^\| {name} \|.*", UPGRADING, re.M)
    deployed, accepted = (cell.strip() for cell in row.split("|")[2:4])
    assert deployed == deployed_version(service)
    assert accepted == ".".join(map(str, oldest))
    assert numbers(deployed) >= oldest


def test_no_document_names_another_version_of_what_is_deployed() -> None:
    """A tag of an image, or "Qdrant 1.18.3" in words."""
    words = {"neo4j": r"neo4j:([\d.]+)", "qdrant": r"qdrant/qdrant:v([\d.]+)", "postgres": r"postgres:([\d.]+)"}
    for page in ("deployment.md", "upgrading.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        for service, tag in words.items():
            assert set(re.findall(tag, text)) <= {deployed_version(service)}, page
