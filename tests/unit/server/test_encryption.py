"""The vault's keys: their file, their form, their versions."""

import asyncio
from pathlib import Path

import pytest

from domain.errors import SecretError, UnavailableError, UsageError
from server.storage.encryption import Keyring, add_key, drop_keys, open_key_file, parse_keys

ONE = "1:" + "QUFB" * 10 + "QUE="
TWO = "2:" + "QkJC" * 10 + "QkI="


def test_the_file_is_made_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "new" / "vault.keys"
    version, sealed = open_key_file(file).seal("secret", "here")
    assert file.stat().st_mode & 0o777 == 0o600
    assert open_key_file(file).open(version, sealed, "here") == "secret"
    assert list(file.parent.iterdir()) == [file]


async def test_two_that_start_at_once_get_the_same_key(tmp_path: Path) -> None:
    file = tmp_path / "vault.keys"
    made = await asyncio.gather(*(asyncio.to_thread(open_key_file, file) for _ in range(8)))
    version, sealed = made[0].seal("secret", "here")
    assert {keys.open(version, sealed, "here") for keys in made} == {"secret"}


def test_a_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "vault.keys"
    open_key_file(file)
    file.chmod(0o640)
    with pytest.raises(UnavailableError, match="chmod 600"):
        open_key_file(file)


def test_a_file_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UnavailableError, match="cannot be used"):
        open_key_file(tmp_path / "file" / "vault.keys")


def test_a_further_key_seals_and_the_older_ones_open_until_they_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "vault.keys"
    serving = open_key_file(file)
    old = serving.seal("old", "here")
    assert add_key(file) == 2
    new = open_key_file(file).seal("new", "here")
    assert (old[0], new[0]) == (1, 2)
    assert serving.open(*new, "here") == "new"
    assert file.stat().st_mode & 0o777 == 0o600
    assert drop_keys(file) == 1
    with pytest.raises(SecretError, match="version 1"):
        open_key_file(file).open(*old, "here")


def test_what_was_touched_does_not_open() -> None:
    keys = Keyring(lambda: parse_keys(ONE))
    version, sealed = keys.seal("secret", "here")
    for touched, place in ((sealed[:-1] + bytes([sealed[-1] ^ 1]), "here"), (sealed, "there"), (sealed[:5], "here")):
        with pytest.raises(SecretError, match="cannot be opened"):
            keys.open(version, touched, place)
    assert keys.seal("secret", "here")[1] != sealed


def test_keys_are_read_from_lines_and_commas() -> None:
    assert sorted(parse_keys(f"{ONE},{TWO}")) == sorted(parse_keys(f"{TWO}\n\n{ONE}\n")) == [1, 2]
    assert "QUFB" not in repr(Keyring(lambda: parse_keys(ONE)))


@pytest.mark.parametrize("text", ["", "x", "1:short", "1:QUFB", f"{ONE},{ONE}", "-1:" + ONE[2:], ONE[2:], "1:§§"])
def test_what_is_no_key_is_refused_without_being_shown(text: str) -> None:
    with pytest.raises(UsageError, match="VERSION:BASE64") as caught:
        parse_keys(text)
    assert len(text) < 4 or text not in str(caught.value)
