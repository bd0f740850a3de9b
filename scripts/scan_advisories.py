"""Asks an advisory service for known holes of the packages that lock files pin, by pip-audit."""

import json
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import _environment as _environment  # first: it tells where the packages are missing
import typer
from _advisories import told
from _lock_files import Locked, locked

ROOT = Path(__file__).resolve().parents[1]
LOCKS = sorted(ROOT.glob("requirements*.lock"))


def main(
    lock: Annotated[list[Path] | None, typer.Option(help="A lock file, several times; all of the project's.")] = None,
    osv: Annotated[str, typer.Option(metavar="URL", help="Ask a service that speaks OSV's protocol.")] = "",
    ignore: Annotated[list[str] | None, typer.Option(help="An advisory that was judged, several times.")] = None,
) -> None:
    """Exit codes: 0 nothing is known, 1 holes, 3 the service was not reached, or does not know all packages."""
    pins = {(package.name, package.version): package for file in lock or LOCKS for package in locked(file)}
    answer = asked(sorted(pins.values(), key=lambda package: package.name), osv, ignore or [])
    if isinstance(answer, str):
        print(f"the advisory service was not reached, so nothing is said of the packages: {answer}", file=sys.stderr)
        raise typer.Exit(3)
    raise typer.Exit(told(answer))


def asked(packages: list[Locked], osv: str, ignored: list[str]) -> dict[str, Any] | str:
    """pip-audit's answer, or why it has none. It takes one version of a package at a time."""
    found: list[Any] = []
    for pins in one_of_each(packages):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "pins.txt"
            file.write_text("\n".join(pins) + "\n", encoding="utf-8")
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-m", "pip_audit", "--require-hashes", "--disable-pip", "--progress-spinner=off"]
                + ["--format=json", f"--requirement={file}", f"--cache-dir={folder}/cache"]  # a home may be read-only
                + (["--vulnerability-service=osv", f"--osv-url={osv}"] if osv else [])
                + [f"--ignore-vuln={hole}" for hole in ignored],
                capture_output=True,
                text=True,
                check=False,
            )
        try:
            found += json.loads(done.stdout)["dependencies"]
        except json.JSONDecodeError:
            return (done.stderr.strip().splitlines() or [f"pip-audit ended with {done.returncode}"])[-1]
    return {"dependencies": found}


def one_of_each(packages: list[Locked]) -> list[list[str]]:
    """Lists of pins, a package once in each. Without markers: what only other machines install is asked about as well."""
    lists: list[list[str]] = []
    for _, same in groupby(packages, key=lambda package: package.name):
        for place, package in enumerate(same):
            if place == len(lists):
                lists.append([])
            hashes = " ".join(f"--hash=sha256:{digest}" for digest in package.hashes)
            lists[place].append(f"{package.name}=={package.version} {hashes}")
    return lists


if __name__ == "__main__":
    typer.run(main)
