"""What a backup says of itself: what is in it, from when, of which version, with digests."""

import os
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from domain.errors import BrokenInputError, UnavailableError, UsageError
from server.storage.encryption import Keyring

NAME = "manifest.json"
STORE = "store.jsonl.gz"
FIELDS = "fields.db"
KEYS = "vault.keys"
ROWS = {"sqlite": "rows.db", "postgresql": "rows.pgdump"}
_PIECE = 1 << 20


class Held(BaseModel):
    """A file of the backup."""

    bytes: int
    digest: str


class Manifest(BaseModel):
    """``vault``: fingerprints of the keys that open what is sealed, by version. ``tables``: the version of the rows. ``signature``: by the vault's
    key of version ``signed_with``, over all else; empty in backups of before, which nothing vouches for.
    """

    format: Literal["footpath-backup"] = "footpath-backup"
    version: Literal[1] = 1
    at: datetime
    rows: Literal["sqlite", "postgresql"]
    tables: str
    vault: dict[int, str]
    files: dict[str, Held]
    signed_with: int = 0
    signature: str = ""


def sign(manifest: Manifest, keys: Keyring) -> Manifest:
    """Vouch for a manifest with the vault's newest key: who lacks the key changes nothing in the backup unseen."""
    version, signature = keys.sign(_signed_text(manifest))
    return manifest.model_copy(update={"signed_with": version, "signature": signature})


def check_signature(manifest: Manifest, keys: Keyring) -> None:
    """Raise ``UsageError`` unless the manifest was signed with a key of the vault."""
    if not manifest.signature:
        raise UsageError(
            "the backup is not signed: it is of a version before backups were, or somebody took the signature out of it. If it has been in your own hands "
            "since it was made, restore it on the machine: scripts/restore.py FOLDER --unsigned"
        )
    if not keys.is_signed(manifest.signed_with, manifest.signature, _signed_text(manifest)):
        raise UsageError(
            "the backup is not authentic: its manifest is not what the server signed with its vault's key, so somebody changed it. "
            "Nothing was restored; take another copy of the backup, from a place that only you write to"
        )


def _signed_text(manifest: Manifest) -> bytes:
    return manifest.model_dump_json(exclude={"signed_with", "signature"}).encode()


def held(file: Path) -> Held:
    """A file's size and digest."""
    digest = blake2b(digest_size=32)
    with file.open("rb") as opened:
        while piece := opened.read(_PIECE):
            digest.update(piece)
    return Held(bytes=file.stat().st_size, digest=digest.hexdigest())


def write(folder: Path, manifest: Manifest) -> None:
    """The last file of a backup; all of it is on the disk then."""
    for name in manifest.files:
        _to_disk(folder / name)
    (folder / NAME).write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    _to_disk(folder / NAME)


def read(folder: Path) -> Manifest:
    """What the folder says of itself, with every file as it says.

    Raises ``UnavailableError`` where there is no backup, ``BrokenInputError`` where it is not whole or not of this version.
    """
    path = folder / NAME
    try:
        manifest = Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise UnavailableError(f"{folder} holds no backup: there is no {NAME} in it") from error
    except ValidationError as error:
        raise BrokenInputError("this is no backup that this version of Footpath reads", file=str(path)) from error
    for name, said in manifest.files.items():
        file = folder / name
        if Path(name).name != name or not file.is_file():
            raise BrokenInputError("the backup is not whole: this file is missing", file=str(file))
        if held(file) != said:
            raise BrokenInputError("this file is not the one that was backed up", file=str(file))
    return manifest


def _to_disk(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())
