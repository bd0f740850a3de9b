"""The units for systemd: commands and settings that exist, users without rights, and what systemd itself says of them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from tests.unit.deployment.test_compose import command_app
from ui import PAGE_PROXIES, SERVER_ADDRESS
from wiring.settings import Settings

ROOT = Path(__file__).resolve().parents[3]
UNITS = sorted((ROOT / "deploy").glob("*.service"))
HARDENED = {
    "NoNewPrivileges": "yes",
    "CapabilityBoundingSet": "",
    "ProtectSystem": "strict",
    "ProtectHome": "yes",
    "PrivateTmp": "yes",
    "PrivateDevices": "yes",
    "RestrictNamespaces": "yes",
    "UMask": "0077",
}


def directives(unit: Path) -> dict[str, str]:
    """The last value of each."""
    return dict(re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.M))


def test_there_are_a_server_and_a_page() -> None:
    assert [unit.name for unit in UNITS] == ["footpath-page@.service", "footpath-server@.service"]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_it_runs_a_command_with_settings_that_there_are_and_no_rights(unit: Path) -> None:
    found = directives(unit)
    program, name, *given = found["ExecStart"].replace("%i", "8000").split()
    assert program.endswith("/footpath")
    typer.main.get_command(command_app(name)).make_context(name, given)
    known = {f"FOOTPATH_{setting.upper()}" for setting in Settings.model_fields} | {
        SERVER_ADDRESS,
        PAGE_PROXIES,
        "HOME",
    }
    assert {word.partition("=")[0] for word in found["Environment"].split()} <= known
    assert found.items() >= HARDENED.items()
    assert found.get("User", "root") != "root" or found.get("DynamicUser") == "yes"
    assert {"MemoryMax", "TasksMax"} <= found.keys()


def test_only_the_server_gets_secrets_by_the_names_that_it_reads() -> None:
    page, server = (directives(unit) for unit in UNITS)
    prefix, _, folder = server["LoadCredential"].partition(":")
    assert prefix + "_" == "footpath_", "systemd calls a file of the folder by this and its name"
    assert folder == "/etc/footpath/secrets"
    assert not {"LoadCredential", "EnvironmentFile", "StateDirectory"} & page.keys()


def test_a_service_reads_what_systemd_hands_over(tmp_path: Path) -> None:
    (tmp_path / "footpath_model_api_key").write_text("of the service\n")
    code = "from wiring.settings import read_settings; print(read_settings().model_api_key.get_secret_value())"
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout == "of the service\n"


def complaints(text: str, place: Path) -> list[str]:
    """What systemd says of an instance of the unit."""
    place.write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", str(place).replace("@.", "@8000.")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return [line for line in done.stderr.splitlines() if place.name.partition("@")[0] in line]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
def test_systemd_takes_it_and_the_check_can_fail(unit: Path, tmp_path: Path) -> None:
    """Another program stands for ours, which is not installed here."""
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=re.MULTILINE)
    assert complaints(text, tmp_path / unit.name) == []
    assert complaints(text.replace("ProtectSystem=strict", "ProtectSystem=maybe"), tmp_path / unit.name)
