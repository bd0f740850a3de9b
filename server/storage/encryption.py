"""Secrets at rest: AES-256-GCM with versioned keys. A sealed value opens only in the row that it was sealed for."""

import base64
import hmac
import os
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from domain.errors import SecretError, UnavailableError, UsageError

_NONCE_BYTES = 12
_KEY_FORMAT = "each key is VERSION:BASE64, a number and 32 bytes (1:$(openssl rand -base64 32))"


class Keyring:
    """Keys by version; the highest seals, all open. ``read`` is asked again for a version that another process has added since."""

    def __init__(self, read: Callable[[], Mapping[int, bytes]]) -> None:
        self._read = read
        self._keys = dict(read())

    def __repr__(self) -> str:
        return f"Keys(versions={sorted(self._keys)})"

    @property
    def newest(self) -> int:
        """The version that seals."""
        return max(self._keys)

    def to_dict(self) -> dict[int, bytes]:
        """Every key by its version, for a file of keys."""
        return dict(self._keys)

    def fingerprints(self) -> dict[int, str]:
        """By version: what a key is known by. It says nothing of the key."""
        return {version: compute_fingerprint(key) for version, key in self._keys.items()}

    def sign(self, text: bytes) -> tuple[int, str]:
        """Return the version of the newest key, and by what a text is known to come from whoever has it."""
        return self.newest, self._mac(self._keys[self.newest], text)

    def is_signed(self, version: int, mac: str, text: bytes) -> bool:
        """Whether a text is what was signed with a key of these."""
        key = self._keys.get(version)
        return key is not None and hmac.compare_digest(self._mac(key, text), mac)

    @staticmethod
    def _mac(key: bytes, text: bytes) -> str:
        # A key of its own, so that what signs never seals.
        derived = hmac.digest(key, b"footpath backup manifest", "sha256")
        return hmac.digest(derived, text, "sha256").hex()

    def seal(self, value: str, place: str) -> tuple[int, bytes]:
        """The version and the sealed bytes. ``place``: what names the row; it must be the same to open it."""
        version, nonce = self.newest, secrets.token_bytes(_NONCE_BYTES)
        box = AESGCM(self._keys[version])
        return version, nonce + box.encrypt(nonce, value.encode("utf-8", "surrogatepass"), place.encode())

    def open(self, version: int, sealed: bytes, place: str) -> str:
        """The value. ``SecretError`` where the key is gone, or the row is not the one that was sealed."""
        if version not in self._keys:
            self._keys = dict(self._read())
        key = self._keys.get(version)
        if key is None:
            raise SecretError(f"a stored key was sealed with version {version}, which is not among the vault's keys")
        try:
            opened = AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:  # ValueError: too short to be anything that was sealed
            raise SecretError("a stored key cannot be opened; it was changed, or the vault's keys were") from error
        return opened.decode("utf-8", "surrogatepass")


def compute_fingerprint(key: bytes) -> str:
    """What a key is known by. Keys are 32 bytes by chance, so nobody finds one by trying."""
    return blake2b(key, digest_size=16, person=b"footpath vault").hexdigest()


def parse_keys(text: str) -> dict[int, bytes]:
    """Keys from ``1:BASE64,2:BASE64`` (commas or lines). ``UsageError`` says what is wrong and shows none of it."""
    found: dict[int, bytes] = {}
    for entry in text.replace("\n", ",").split(","):
        version, _, encoded = entry.strip().partition(":")
        if not entry.strip():
            continue
        try:
            key = base64.b64decode(encoded, validate=True)
        except ValueError:
            key = b""
        if not version.isdecimal() or len(key) != 32 or int(version) in found:
            raise UsageError(f"the vault's keys cannot be read: {_KEY_FORMAT}, no version twice")
        found[int(version)] = key
    if not found:
        raise UsageError(f"the vault has no keys: {_KEY_FORMAT}")
    return found


def open_key_file(path: Path) -> Keyring:
    """The keys of a file, which is made with a fresh one, for its owner only, where there is none.

    Raises ``UnavailableError`` where others may read it, or it cannot be read or made; ``UsageError`` for what is no key.
    """
    with _said(path):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, {1: secrets.token_bytes(32)}, replace=False)
    return Keyring(lambda: _read_file(path))


def load_keyring(given: Path | str) -> Keyring:
    """Keys as they stand in a file or a setting; nothing is made."""
    found = _read_file(given) if isinstance(given, Path) else parse_keys(given)
    return Keyring(lambda: found)


def write_keys(path: Path, keys: Keyring) -> None:
    """Put keys into a new file, for its owner only. ``UnavailableError`` where it cannot be written."""
    with _said(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, keys.to_dict(), replace=False)


def add_key(path: Path) -> int:
    """Put a further key into the file; its version."""
    keys = _read_file(path)
    version = max(keys) + 1
    with _said(path):
        _write(path, keys | {version: secrets.token_bytes(32)}, replace=True)
    return version


def drop_keys(path: Path) -> int:
    """Take all keys but the newest out of the file; how many. What they sealed can then be opened by nobody."""
    keys = _read_file(path)
    with _said(path):
        _write(path, {max(keys): keys[max(keys)]}, replace=True)
    return len(keys) - 1


def _read_file(path: Path) -> dict[int, bytes]:
    with _said(path):
        if path.stat().st_mode & 0o077:
            raise UnavailableError(f"{path} holds keys and others may read it: chmod 600 {path}")
        text = path.read_text(encoding="ascii", errors="replace")
    return parse_keys(text)


def _write(path: Path, keys: Mapping[int, bytes], *, replace: bool) -> None:
    part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
    text = "".join(f"{version}:{base64.b64encode(key).decode()}\n" for version, key in sorted(keys.items()))
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        if replace:
            part.replace(path)
        else:
            with suppress(FileExistsError):  # another process made it meanwhile: its key counts
                os.link(part, path)
    finally:
        part.unlink(missing_ok=True)


class _said:  # noqa: N801  # reads as a word where it is used
    """An operating system's refusal, in our words."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, OSError):
            raise UnavailableError(f"the vault's keys in {self._path} cannot be used ({error.strerror})") from error
