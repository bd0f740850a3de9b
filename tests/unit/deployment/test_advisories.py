"""``make advisories`` asks about every pinned package, and what was not checked is never said to be without holes."""

import socket
from pathlib import Path

import pytest

from scripts._advisories import told
from tests.unit.deployment.commands import script
from tests.unit.deployment.fake_advisories import fake_advisories, hole

DIGEST = "--hash=sha256:" + "0" * 64


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """Two versions of one package, one of them for another machine, and a second package."""
    file = tmp_path / "requirements.lock"
    file.write_text(
        f"numpy==2.4.6 ; python_full_version < '3.12' \\\n    {DIGEST}\n    # via footpath (pyproject.toml)\n"
        f"numpy==2.5.0 ; python_full_version >= '3.12' \\\n    {DIGEST}\n    # via footpath (pyproject.toml)\n"
        f"pywin32==311 ; sys_platform == 'win32' \\\n    {DIGEST}\n    # via numpy\n"
    )
    return file


def test_every_package_is_asked_about_wherever_it_is_installed(lock: Path) -> None:
    with fake_advisories({}) as (address, asked):
        done = script("scan_advisories.py", "--lock", str(lock), "--osv", address)
    assert done.returncode == 0, done.stderr
    assert sorted(asked) == [("numpy", "2.4.6"), ("numpy", "2.5.0"), ("pywin32", "311")]
    assert "3 packages were checked: no known holes" in done.stderr


def test_a_hole_is_told_with_its_mending_and_fails(lock: Path) -> None:
    with fake_advisories({"pywin32": hole("pywin32", "312")}) as (address, _):
        done = script("scan_advisories.py", "--lock", str(lock), "--osv", address)
        judged = script("scan_advisories.py", "--lock", str(lock), "--osv", address, "--ignore", "GHSA-made-up")
    assert done.returncode == 1
    assert done.stdout == "pywin32 311: GHSA-made-up (mended by 312): made up for a test\n"
    assert judged.returncode == 0


def test_a_service_that_fails_or_is_not_there_is_told_apart_from_no_holes(lock: Path) -> None:
    with fake_advisories({}, status=500) as (address, _):
        failing = script("scan_advisories.py", "--lock", str(lock), "--osv", address)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}/v1/query"
    absent = script("scan_advisories.py", "--lock", str(lock), "--osv", nobody)
    for done in (failing, absent):
        assert done.returncode == 3
        assert "the advisory service was not reached, so nothing is said of the packages" in done.stderr
        assert "no known holes" not in done.stderr


def test_packages_that_the_service_does_not_know_are_not_called_checked(capsys: pytest.CaptureFixture[str]) -> None:
    """What pip-audit answered, and called success, where the registry in between had no advisories."""
    skipped = {"name": "tqdm", "skip_reason": "Dependency not found on the index and could not be audited"}
    assert told({"dependencies": [skipped], "fixes": []}) == 3
    assert "does not know 1 of 1 packages: tqdm" in capsys.readouterr().err
