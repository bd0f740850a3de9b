"""Pins the images that the Compose file and the Dockerfile name by digest, as the registry has them now."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Annotated, NoReturn

import _environment as _environment  # first: it tells where the packages are missing
import typer

ROOT = Path(__file__).resolve().parents[1]
FILES = [ROOT / "docker-compose.yml", ROOT / "docker" / "Dockerfile"]
OURS = "footpath:"
"""Built here, so no registry has it."""
IMAGE = re.compile(
    rf"^(?P<begin> *image: |FROM )(?P<tag>(?!{OURS})[^\s@]+:[^\s@]+)(?P<digest>@sha256:[0-9a-f]{{64}})?", re.M
)


def main(
    file: Annotated[list[Path] | None, typer.Option(help="A file to pin, several times; the project's two.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; say what is not pinned, or has moved.")
    ] = False,
) -> None:
    """Each tag stays and gets the digest that it stands for. Exit codes: 1 (--check) a pin is missing or another, 3 no answer."""
    files = file or FILES
    texts = [path.read_text(encoding="utf-8") for path in files]
    # All of the registry's answers come before the first file is written.
    pinned = [IMAGE.sub(_pinned, text) for text in texts]
    for path, before, after in zip(files, texts, pinned, strict=True):
        for old, new in zip(IMAGE.finditer(before), IMAGE.finditer(after), strict=True):
            if old["digest"] != new["digest"]:
                print(f"{path.name}: {new['tag']}{new['digest']}, before: {(old['digest'] or 'no digest').lstrip('@')}")
        if not check:
            path.write_text(after, encoding="utf-8")
    raise typer.Exit(1 if check and pinned != texts else 0)


def _pinned(found: re.Match[str]) -> str:
    return f"{found['begin']}{found['tag']}@{_digest(found['tag'])}"


@cache
def _digest(tag: str) -> str:
    """Of the list of all platforms' images, so that it is the same on every machine."""
    try:
        done = subprocess.run(  # noqa: S603
            ["docker", "buildx", "imagetools", "inspect", "--format", "{{json .Manifest}}", tag],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        _give_up("docker is not installed")
    if done.returncode:
        _give_up(f"no digest of {tag}: {(done.stderr.strip().splitlines() or ['docker said nothing'])[-1]}")
    return json.loads(done.stdout)["digest"]


def _give_up(why: str) -> NoReturn:
    print(f"{why}; nothing is changed", file=sys.stderr)
    raise typer.Exit(3)


if __name__ == "__main__":
    typer.run(main)
