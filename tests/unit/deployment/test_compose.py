"""The Compose file is what the Compose Specification allows, and the image and it keep the house rules. Nothing is run."""

import re
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from domain.addresses import Proxies
from ui import PAGE_PROXIES, SERVER_ADDRESS
from wiring.settings import EXAMPLES, Settings

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "docker-compose.yml"
DOCKERFILE = ROOT / "docker" / "Dockerfile"
PINNED = re.compile(r"^[a-z0-9/]+:v?\d+\.\d+\.\d+[\w.-]*$")


def compose() -> dict[str, Any]:
    return YAML(typ="safe").load(FILE)  # pyright: ignore[reportUnknownMemberType]


def schema_check(file: Path) -> subprocess.CompletedProcess[str]:
    """Against the specification's own JSON Schema, which the checker carries: nothing is fetched."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_it_is_valid_and_the_check_can_fail(tmp_path: Path) -> None:
    done = schema_check(FILE)
    assert done.returncode == 0, done.stdout
    broken = tmp_path / "broken.yml"
    broken.write_text(FILE.read_text().replace("healthcheck:", "healthchecks:", 1))
    assert schema_check(broken).returncode == 1


@pytest.mark.parametrize("name", sorted(compose()["services"]))
def test_services_are_pinned_local_and_guarded(name: str) -> None:
    service = compose()["services"][name]
    assert PINNED.match(service["image"])
    assert set(service["profiles"]) <= {"stores", "app"}
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert "no-new-privileges:true" in service["security_opt"]
    assert not service.get("privileged")


def test_the_servers_are_watched_and_keep_their_data() -> None:
    found = compose()
    for name in ("neo4j", "qdrant"):
        assert found["services"][name]["healthcheck"]["test"][0] == "CMD"
        (volume,) = found["services"][name]["volumes"]
        assert volume.partition(":")[0] in found["volumes"]
    waits = found["services"]["app"]["depends_on"]
    assert {name: wait["condition"] for name, wait in waits.items()} == {
        "neo4j": "service_healthy",
        "qdrant": "service_healthy",
    }


def test_passwords_are_asked_for_and_have_no_default() -> None:
    secret = re.compile(r"(PASSWORD|KEY|AUTH)$")
    values: list[str] = []
    for service in compose()["services"].values():
        values += [value for name, value in service["environment"].items() if secret.search(name)]
    assert len(values) == 6
    for value in values:
        assert re.fullmatch(r"(neo4j/)?\$\{[A-Z0-9_]+:\?[^}]+\}", value)
    assert {"neo4j", "password", "changeme"} <= EXAMPLES


def test_the_application_is_in_production_unless_told_otherwise() -> None:
    environment = compose()["services"]["app"]["environment"]
    assert environment["FOOTPATH_ENVIRONMENT"] == "${FOOTPATH_ENVIRONMENT:-production}"
    assert "environment" in Settings.model_fields


def test_the_server_is_the_application_and_the_page_knows_it_alone() -> None:
    services = compose()["services"]
    app, server, page = (services[name] for name in ("app", "server", "page"))
    assert server["environment"].items() >= app["environment"].items()
    for name in server["environment"]:
        assert name.removeprefix("FOOTPATH_").lower() in Settings.model_fields
    assert (ROOT / server["command"][0]).is_file()
    assert (ROOT / page["command"][3]).is_file()
    assert server["ports"][0].endswith(":" + server["command"][-1])
    assert page["environment"][SERVER_ADDRESS] == "http://server:" + server["command"][-1]
    assert not page["volumes"]
    assert not {name for name in page["environment"] if "PASSWORD" in name or "KEY" in name}
    assert page["depends_on"]["server"]["condition"] == "service_healthy"


def test_the_server_believes_the_page_and_the_page_what_is_in_front_of_it() -> None:
    """By addresses that are known beforehand: a name has none until it is up."""
    found = compose()

    def plain(text: str) -> str:
        """Without variables: their defaults, the inner ones first."""
        while (shorter := re.sub(r"\$\{\w+:-([^${}]*)\}", r"\1", text)) != text:
            text = shorter
        return text

    page, server = found["services"]["page"], found["services"]["server"]
    address = plain(page["networks"]["default"]["ipv4_address"])
    (network,) = found["networks"]["default"]["ipam"]["config"]
    assert ip_address(address) in ip_network(plain(network["subnet"]))
    believed = Proxies(plain(server["environment"]["FOOTPATH_TRUSTED_PROXIES"]))
    assert believed.client(address, ["203.0.113.9"]) == "203.0.113.9"
    gateway = plain(network["gateway"])
    assert believed.client(gateway, ["203.0.113.9"]) == gateway
    in_front = Proxies(plain(page["environment"][PAGE_PROXIES]))
    assert in_front.client(gateway, ["203.0.113.9"]) == "203.0.113.9"


def test_the_image_has_stages_a_pinned_base_and_no_root() -> None:
    lines = [line.split() for line in DOCKERFILE.read_text().splitlines() if line and not line.startswith("#")]
    bases = [words[1] for words in lines if words[0] == "FROM"]
    assert len(bases) == 2
    assert all(PINNED.match(base) for base in bases)
    users = [words[1] for words in lines if words[0] == "USER"]
    assert users
    assert users[-1].isdigit()
    assert int(users[-1]) >= 1000


def test_the_image_takes_only_what_it_needs() -> None:
    rules = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and not line.startswith("#")]
    assert rules[0] == "*"
    taken = [rule[1:] for rule in rules if rule.startswith("!")]
    assert [name for name in taken if not (ROOT / name).exists()] == []
    assert not {name for name in taken if name.startswith((".", "tests", "docs"))}
