"""Makes the passwords that the Compose file's servers and the application share, as files; once."""

import os
import secrets
import sys
from pathlib import Path
from typing import Annotated

import _environment as _environment  # first: it tells where the packages are missing
import typer

FOLDER = Path(__file__).resolve().parents[1] / "docker" / "secrets"


def main(folder: Annotated[Path, typer.Option(help="Where they are written.")] = FOLDER) -> None:
    """What is there stays: the servers took their passwords when their volumes were made. Exit code 2: it is there already."""
    if folder.exists():
        print(f"{folder} is there already; nothing is changed", file=sys.stderr)
        raise typer.Exit(2)
    neo4j, qdrant, postgres = (secrets.token_hex(24) for _ in range(3))
    # Nobody else of this machine gets into the folder; the containers, which are users of their own, read the files in it.
    folder.mkdir(mode=0o700, parents=True)
    _write(folder / "neo4j_auth", f"neo4j/{neo4j}")
    _write(folder / "qdrant.yaml", f"service:\n  api_key: {qdrant}")
    _write(folder / "postgres_password", postgres)
    (folder / "footpath").mkdir(mode=0o755)
    _write(folder / "footpath" / "footpath_graph_password", neo4j)
    _write(folder / "footpath" / "footpath_vector_api_key", qdrant)
    _write(folder / "footpath" / "footpath_database_url", f"postgresql+asyncpg://footpath:{postgres}@postgres/footpath")
    # One container has none of these servers; its folder is for keys of models and tools.
    (folder / "small").mkdir(mode=0o755)
    print(f"made passwords of Neo4j, Qdrant and PostgreSQL in {folder}; keep a copy apart from the backups")


def _write(file: Path, text: str) -> None:
    """Readable whatever the umask of who calls it: the folder above keeps others out."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w", encoding="utf-8") as out:
        os.fchmod(out.fileno(), 0o644)
        out.write(text)


if __name__ == "__main__":
    typer.run(main)
