"""Encryption of stored keys: AES-256-GCM with keys by version, and the file in which these are stored."""

import base64
import hmac
import os
import secrets
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from domain.errors import SecretError, UnavailableError, UsageError

_NONCE_BYTES = 12
_KEY_FORMAT = "each key is VERSION:BASE64, a number and 32 bytes (1:$(openssl rand -base64 32))"


class Keyring:
    """Encryption keys by version. The highest version seals; every version opens.

    ``read`` loads the keys; it is called again for an unknown version, which another process may have added.
    """

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
        """Return every key by its version, to be written to a file."""
        return dict(self._keys)

    def compute_fingerprints(self) -> dict[int, str]:
        """Return the fingerprint of each key by its version. A fingerprint reveals nothing about the key."""
        return {version: compute_fingerprint(key) for version, key in self._keys.items()}

    def sign(self, text: bytes) -> tuple[int, str]:
        """Return the version of the newest key and the MAC of a text under it."""
        return self.newest, self._compute_mac(self._keys[self.newest], text)

    def is_signed(self, version: int, mac: str, text: bytes) -> bool:
        """Return whether a MAC was made of this text with the key of this version."""
        key = self._keys.get(version)
        return key is not None and hmac.compare_digest(self._compute_mac(key, text), mac)

    @staticmethod
    def _compute_mac(key: bytes, text: bytes) -> str:
        # Derive a separate key, so that the key that seals never signs.
        derived = hmac.digest(key, b"footpath backup manifest", "sha256")
        return hmac.digest(derived, text, "sha256").hex()

    def seal(self, value: str, place: str) -> tuple[int, bytes]:
        """Encrypt a value; return the key's version and the sealed bytes.

        ``place`` identifies the row as associated data and must be the same to open it, so that sealed bytes cannot
        be moved to another row.
        """
        version, nonce = self.newest, secrets.token_bytes(_NONCE_BYTES)
        box = AESGCM(self._keys[version])
        return version, nonce + box.encrypt(nonce, value.encode("utf-8", "surrogatepass"), place.encode())

    def open(self, version: int, sealed: bytes, place: str) -> str:
        """Decrypt a value.

        Raises:
            SecretError: the key is missing, or the bytes were not sealed for this place.
        """
        if version not in self._keys:
            self._keys = dict(self._read())
        key = self._keys.get(version)
        if key is None:
            raise SecretError(f"a stored key was sealed with version {version}, which is not among the vault's keys")
        try:
            opened = AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], place.encode())
        except (InvalidTag, ValueError) as error:  # ValueError: shorter than a nonce and a tag
            raise SecretError("a stored key cannot be opened; it was changed, or the vault's keys were") from error
        return opened.decode("utf-8", "surrogatepass")


def compute_fingerprint(key: bytes) -> str:
    """Return a fingerprint of a key. Keys are 32 random bytes, so it cannot be reversed by trying."""
    return blake2b(key, digest_size=16, person=b"footpath vault").hexdigest()


def parse_keys(text: str) -> dict[int, bytes]:
    """Parse keys from ``1:BASE64,2:BASE64``, separated by commas or lines.

    Raises:
        UsageError: the text is malformed; the message shows none of it.
    """
    keys: dict[int, bytes] = {}
    for entry in text.replace("\n", ",").split(","):
        version, _, encoded = entry.strip().partition(":")
        if not entry.strip():
            continue
        try:
            key = base64.b64decode(encoded, validate=True)
        except ValueError:
            key = b""
        if not version.isdecimal() or len(key) != 32 or int(version) in keys:
            raise UsageError(f"the vault's keys cannot be read: {_KEY_FORMAT}, no version twice")
        keys[int(version)] = key
    if not keys:
        raise UsageError(f"the vault has no keys: {_KEY_FORMAT}")
    return keys


def open_key_file(path: Path) -> Keyring:
    """Return the keyring of a file, which is created with a fresh key, readable by its owner only, where it is missing.

    Raises:
        UnavailableError: the file is readable by others, or cannot be read or created.
        UsageError: it holds no valid keys.
    """
    with _report_os_errors(path):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            _write_key_file(path, {1: secrets.token_bytes(32)}, replace=False)
    return Keyring(lambda: _read_key_file(path))


def load_keyring(source: Path | str) -> Keyring:
    """Return the keyring of a file or of a setting's text, without creating anything."""
    keys = _read_key_file(source) if isinstance(source, Path) else parse_keys(source)
    return Keyring(lambda: keys)


def write_keys(path: Path, keys: Keyring) -> None:
    """Write keys to a new file, readable by its owner only.

    Raises:
        UnavailableError: it cannot be written.
    """
    with _report_os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_key_file(path, keys.to_dict(), replace=False)


def add_key(path: Path) -> int:
    """Add a key to the file and return its version."""
    keys = _read_key_file(path)
    version = max(keys) + 1
    with _report_os_errors(path):
        _write_key_file(path, keys | {version: secrets.token_bytes(32)}, replace=True)
    return version


def drop_keys(path: Path) -> int:
    """Remove all keys but the newest from the file and return how many.

    What they sealed can no longer be opened by anybody.
    """
    keys = _read_key_file(path)
    with _report_os_errors(path):
        _write_key_file(path, {max(keys): keys[max(keys)]}, replace=True)
    return len(keys) - 1


def _read_key_file(path: Path) -> dict[int, bytes]:
    with _report_os_errors(path):
        if path.stat().st_mode & 0o077:
            raise UnavailableError(f"{path} holds keys and others may read it: chmod 600 {path}")
        text = path.read_text(encoding="ascii", errors="replace")
    return parse_keys(text)


def _write_key_file(path: Path, keys: Mapping[int, bytes], *, replace: bool) -> None:
    """Write keys atomically; without ``replace``, an existing file is left as it is."""
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
            with suppress(FileExistsError):  # another process has created it meanwhile: keep its key
                os.link(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def _report_os_errors(path: Path) -> Generator[None]:
    """Raise ``UnavailableError`` where the operating system refuses access to the file of keys."""
    try:
        yield
    except OSError as error:
        raise UnavailableError(f"the vault's keys in {path} cannot be used ({error.strerror})") from error
