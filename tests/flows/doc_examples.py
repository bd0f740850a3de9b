"""The examples of the documentation: every fenced block of Python or shell, and the commands that bash makes of a block of shell.

bash itself reads them (braces, quotes, loops of ``$(…)``, variables), with every program replaced by one that notes how it was called and does nothing;
one that stands not in :data:`PROGRAMS` is not found, and never runs.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *sorted((ROOT / "docs").rglob("*.md"))]  # fmt: skip
PROGRAMS = ("python", ".venv/bin/python", "footpath", "make", "docker", "pip", "ray", "curl", "jq", "npx")
_BLOCK = re.compile(r"^(?P<indent> *)```(?P<language>\w+)\n(?P<text>.*?)^ *```", re.MULTILINE | re.DOTALL)
_NOTE = """#!/bin/sh
PATH=/usr/bin:/bin
noted=$(printf '%s\\1' "${0#"$STANDS/"}" "$@"; printf '\\2'; env -0 | grep -z '^FOOTPATH_' | tr '\\0' '\\1'; printf '\\3')
printf '%s' "$noted" >> "$NOTED"
case "$0" in */jq) echo ID ;; esac
"""
"""In one piece: the programs of a pipe note side by side."""


_WITHOUT_VALUE = ("--rm",)
"""Options of ``docker compose run`` that stand alone."""


@dataclass(frozen=True, slots=True)
class Example:
    """A block. ``page``: as in the repository; ``line``: where it begins."""

    page: str
    line: int
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, slots=True)
class Called:
    """A program as an example starts it. ``settings``: the variables of ours that it is given."""

    place: str
    words: tuple[str, ...]
    settings: dict[str, str]

    def __str__(self) -> str:
        return f"{self.place}: {' '.join(self.words)}"

    @property
    def script(self) -> tuple[str, tuple[str, ...]] | None:
        """The script of ours, or the command of ``footpath``, that it runs, and its arguments."""
        program, *rest = self.words
        if program == "footpath":
            return rest[0], tuple(rest[1:])
        if self.container and self.container[1]:
            return self.container[1][0], self.container[1][1:]
        for at, word in enumerate(rest):
            if word.startswith("scripts/") and program != "npx":  # whose options are the other program's
                return word.removeprefix("scripts/").removesuffix(".py"), tuple(rest[at + 1 :])
        return None

    @property
    def container(self) -> tuple[str, tuple[str, ...]] | None:
        """The service that ``docker compose run`` runs, and the command of ``footpath`` that it is given."""
        if self.words[:2] != ("docker", "compose") or "run" not in self.words:
            return None
        rest = list(self.words[self.words.index("run") + 1 :])
        while rest[0].startswith("-"):
            rest = rest[1 if rest[0] in _WITHOUT_VALUE else 2 :]
        return rest[0], tuple(rest[1:])


def examples(*languages: str) -> list[Example]:
    """All blocks in these languages."""
    found: list[Example] = []
    for page in PAGES:
        whole = page.read_text(encoding="utf-8")
        for block in _BLOCK.finditer(whole):
            if block["language"] in languages:
                text = re.sub(rf"^{block['indent']}", "", block["text"], flags=re.MULTILINE)
                line = whole.count("\n", 0, block.start()) + 1
                found.append(Example(str(page.relative_to(ROOT)), line, block["language"], text))
    return found


def called(shell: Sequence[Example], folder: Path) -> list[Called]:
    """What the blocks start, in order, read in a folder that looks like a checkout."""
    _checkout(folder)
    found: list[Called] = []
    for example in shell:
        found += [Called(example.place, words, settings) for words, settings in _noted(example, folder)]
    return found


def _checkout(folder: Path) -> None:
    for name in PROGRAMS:
        stand_in = folder / name if "/" in name else folder / "stands" / name
        stand_in.parent.mkdir(parents=True, exist_ok=True)
        stand_in.write_text(_NOTE)
        stand_in.chmod(0o755)
    (folder / ".venv" / "bin" / "activate").touch()
    for name in ("playground", "tests", "docs"):
        (folder / name).symlink_to(ROOT / name)


def _noted(example: Example, folder: Path) -> list[tuple[tuple[str, ...], dict[str, str]]]:
    """A variable that is set and not exported counts as a setting, too; the last program, which is no part of the block, is given all of them."""
    notes, stands = folder / "noted", folder / "stands"
    notes.unlink(missing_ok=True)
    env = {"PATH": str(stands), "NOTED": str(notes), "STANDS": str(stands)}
    text = f"set -ea\n{example.text}\njq settings\n"
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-c", text], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{example.place}: {done.stderr}"
    found: list[tuple[tuple[str, ...], dict[str, str]]] = []
    for note in notes.read_text(encoding="utf-8").split("\3")[:-1]:
        words, settings = (part.split("\1")[:-1] for part in note.split("\2"))
        found.append((tuple(words), dict(one.split("=", 1) for one in settings)))
    return found
