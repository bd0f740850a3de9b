"""``make digests`` writes into the files what the registry says, and nothing where it says nothing. Docker is a fake here."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from tests.unit.deployment.commands import script

COMPOSE = "services:\n  neo4j:\n    image: neo4j:5.26.30-community\n  app:\n    image: footpath:0.1.0\n"
DOCKERFILE = "FROM python:3.12.14-slim-bookworm AS build\nFROM python:3.12.14-slim-bookworm\n"


def digest(tag: str) -> str:
    return "sha256:" + hashlib.sha256(tag.encode()).hexdigest()


@pytest.fixture
def fake_docker(tmp_path: Path) -> dict[str, str]:
    """A program named ``docker`` that prints a manifest as buildx does, of the tags it knows; the variables to find it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    lines = [
        "#!/bin/sh",
        'test "$1 $2 $3" = "buildx imagetools inspect" || exit 9',
        'for tag in "$@"; do :; done; case "$tag" in',
    ]
    tags = ("neo4j:5.26.30-community", "python:3.12.14-slim-bookworm")
    lines += [f"'{tag}') echo '{json.dumps({'digest': digest(tag), 'size': 1})}';;" for tag in tags]
    lines += ['*) echo "ERROR: $tag: not found" >&2; exit 1;;', "esac"]
    (folder / "docker").write_text("\n".join(lines) + "\n")
    (folder / "docker").chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    compose, dockerfile = tmp_path / "docker-compose.yml", tmp_path / "Dockerfile"
    compose.write_text(COMPOSE)
    dockerfile.write_text(DOCKERFILE)
    return compose, dockerfile


def test_tags_get_their_digests_and_keep_them(files: tuple[Path, Path], fake_docker: dict[str, str]) -> None:
    named = [f"--file={file}" for file in files]
    assert script("pin_images.py", *named, "--check", **fake_docker).returncode == 1
    assert [file.read_text() for file in files] == [COMPOSE, DOCKERFILE]
    done = script("pin_images.py", *named, **fake_docker)
    assert done.returncode == 0, done.stderr
    neo4j, python = (f"{tag}@{digest(tag)}" for tag in ("neo4j:5.26.30-community", "python:3.12.14-slim-bookworm"))
    assert files[0].read_text() == COMPOSE.replace("neo4j:5.26.30-community", neo4j)
    assert files[1].read_text() == f"FROM {python} AS build\nFROM {python}\n"
    assert script("pin_images.py", *named, "--check", **fake_docker).returncode == 0


def test_a_newer_tag_gets_a_newer_digest(files: tuple[Path, Path], fake_docker: dict[str, str]) -> None:
    old = f"python:3.12.14-slim-bookworm@{digest('another')}"
    files[1].write_text(f"FROM {old}\n")
    done = script("pin_images.py", f"--file={files[1]}", **fake_docker)
    assert digest("another") in done.stdout
    assert files[1].read_text() == f"FROM python:3.12.14-slim-bookworm@{digest('python:3.12.14-slim-bookworm')}\n"


def test_without_an_answer_nothing_is_written(files: tuple[Path, Path], fake_docker: dict[str, str]) -> None:
    files[0].write_text(COMPOSE.replace("5.26.30-community", "no-such-tag"))
    done = script("pin_images.py", f"--file={files[0]}", **fake_docker)
    assert done.returncode == 3
    assert "no digest of neo4j:no-such-tag" in done.stderr
    assert "@sha256" not in files[0].read_text()
    assert script("pin_images.py", f"--file={files[0]}", PATH="/nonexistent").returncode == 3
