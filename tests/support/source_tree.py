"""The project's own files, found without git so that a source archive is judged as well."""

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IGNORED = {"__pycache__", "node_modules", "build", "dist", ".env"}
KEPT_DOT_NAMES = {".ci", ".gitignore", ".gitattributes", ".env.example"}


@cache
def packages() -> tuple[str, ...]:
    """Our top-level packages, as pyproject.toml lists them for the layer check."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return tuple(project["tool"]["importlinter"]["root_packages"])


def files(folder: Path = ROOT) -> Iterator[Path]:
    """Every file that belongs to the project: no caches, no environments, nothing that git ignores."""
    for path in sorted(folder.iterdir()):
        hidden = path.name.startswith(".") and path.name not in KEPT_DOT_NAMES
        if hidden or path.name in IGNORED or path.suffix == ".egg-info" or path.is_symlink():
            continue
        if path.is_dir():
            yield from files(path)
        else:
            yield path


@cache
def python_files(*folders: str) -> tuple[Path, ...]:
    """All ``.py`` files below these top-level folders."""
    found = tuple(
        p for folder in folders if (ROOT / folder).is_dir() for p in files(ROOT / folder) if p.suffix == ".py"
    )
    assert found, f"no source below {folders}: the check would pass on nothing"
    return found


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def line_count(path: Path) -> int:
    """Lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def module_name(path: Path) -> str:
    """``graph.store`` for ``graph/store.py``."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
