"""The Compose file is what the Compose Specification allows, and the image and it keep the house rules. Nothing is run."""

import re
import shutil
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from qdrant_client.common.version_check import is_compatible
from ruamel.yaml import YAML

from domain.addresses import Proxies
from tests.architecture.source_tree import packages
from ui import PAGE_PROXIES, SERVER_ADDRESS

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "docker-compose.yml"
PUBLISHED = ROOT / "docker" / "published-stores.yml"
STORES = ("neo4j", "qdrant", "postgres")
DOCKERFILE = ROOT / "docker" / "Dockerfile"
PINNED = re.compile(r"^[a-z0-9/]+:v?\d+(\.\d+)+[\w.-]*(@sha256:[0-9a-f]{64})?$")


def compose(file: Path = FILE) -> dict[str, Any]:
    return YAML(typ="safe").load(file)  # pyright: ignore[reportUnknownMemberType]


def schema_check(file: Path) -> subprocess.CompletedProcess[str]:
    """Against the specification's own JSON Schema, which the checker carries: nothing is fetched."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def has_compose() -> bool:
    if shutil.which("docker") is None:
        return False
    return (
        subprocess.run(["docker", "compose", "version"], capture_output=True, timeout=60, check=False).returncode == 0
    )


def test_it_is_valid_and_the_check_can_fail(tmp_path: Path) -> None:
    for file in (FILE, PUBLISHED):
        done = schema_check(file)
        assert done.returncode == 0, done.stdout
    broken = tmp_path / "broken.yml"
    broken.write_text(FILE.read_text().replace("healthcheck:", "healthchecks:", 1))
    assert schema_check(broken).returncode == 1


@pytest.mark.skipif(not has_compose(), reason="docker's compose plugin is not installed")
def test_docker_reads_it_as_well(tmp_path: Path) -> None:
    """No daemon is needed for that."""
    for files in ([FILE], [FILE, PUBLISHED]):
        named = [f"--file={file}" for file in files]
        command = ["docker", "compose", *named, f"--project-directory={ROOT}", "--profile=app", "config", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(compose()["services"]))
def test_services_are_pinned_guarded_and_bounded(name: str) -> None:
    service = compose()["services"][name]
    assert PINNED.match(service["image"])
    assert set(service["profiles"]) <= {"stores", "app"}
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["cap_drop"] == ["ALL"]
    assert not {"privileged", "cap_add", "network_mode", "pid"} & set(service)
    assert service["read_only"] if name != "neo4j" else "read_only" not in service
    assert re.fullmatch(r"\$\{[A-Z0-9]+_MEMORY:-\dg\}", service["mem_limit"])
    assert service["pids_limit"] <= 1000
    assert service["logging"] == {"driver": "json-file", "options": {"max-size": "10m", "max-file": "5"}}


def test_who_is_root_in_an_image_is_not_in_its_container() -> None:
    """Qdrant's tag and our image have a user of their own."""
    services = compose()["services"]
    assert services["qdrant"]["image"].partition("@")[0].endswith("-unprivileged")
    for name in ("neo4j", "postgres"):
        assert int(services[name]["user"].partition(":")[0]) > 0


def test_only_the_server_and_the_page_are_published_to_this_machine() -> None:
    found = compose()
    published = {name: service["ports"] for name, service in found["services"].items() if "ports" in service}
    assert set(published) == {"server", "page"}
    others = {name: service["ports"] for name, service in compose(PUBLISHED)["services"].items()}
    assert set(others) == set(STORES)
    assert all(port.startswith("127.0.0.1:") for ports in [*published.values(), *others.values()] for port in ports)


def test_the_stores_have_no_way_out_and_the_page_none_to_them() -> None:
    found = compose()
    assert found["networks"]["stores"] == {"internal": True}
    for name in STORES:
        assert found["services"][name]["networks"] == ["stores"]
    assert set(found["services"]["page"]["networks"]) == {"front"}
    assert set(found["services"]["server"]["networks"]) == {"stores", "front"}


def test_the_page_is_a_proxy_that_the_server_believes() -> None:
    found = compose()
    address = found["services"]["page"]["networks"]["front"]["ipv4_address"]
    default = re.fullmatch(r"\$\{PAGE_ADDRESS:-([\d.]+)\}", address)
    (place,) = found["networks"]["front"]["ipam"]["config"]
    subnet, given = (place[name].partition(":-")[2].rstrip("}") for name in ("subnet", "ip_range"))
    assert default
    assert ip_address(default[1]) in ip_network(subnet)
    assert ip_address(default[1]) not in ip_network(given), "another container may get it"
    assert ip_network(given).subnet_of(ip_network(subnet))  # pyright: ignore[reportArgumentType]
    assert address in found["services"]["server"]["environment"]["FOOTPATH_TRUSTED_PROXIES"]


def test_the_stores_are_watched_and_keep_their_data() -> None:
    found = compose()
    kept = {name: [volume.partition(":") for volume in found["services"][name]["volumes"]] for name in STORES}
    assert all(volume in found["volumes"] for volumes in kept.values() for volume, _, _ in volumes)
    assert [place for _, _, place in kept["qdrant"]] == ["/qdrant/storage", "/qdrant/snapshots"]
    assert all(found["services"][name]["healthcheck"]["test"][0] == "CMD" for name in STORES)
    waits = found["services"]["server"]["depends_on"]
    assert {name: wait["condition"] for name, wait in waits.items()} == dict.fromkeys(STORES, "service_healthy")


def test_the_client_in_the_lock_fits_the_server() -> None:
    """By the client's own rule; and no version of the server that is known to have holes (1.18.2 and 1.19.0 mend some)."""
    tag = compose()["services"]["qdrant"]["image"]
    server = re.search(r":v(\d+\.\d+\.\d+)", tag)
    client = re.search(r"^qdrant-client==(\S+)", (ROOT / "requirements.lock").read_text(), re.M)
    assert server
    assert client
    assert is_compatible(client[1], server[1])
    assert tuple(map(int, server[1].split("."))) >= (1, 19, 0)


def test_the_server_is_the_application_and_the_page_knows_it_alone() -> None:
    services = compose()["services"]
    app, server, page = (services[name] for name in ("app", "server", "page"))
    assert server["environment"] == app["environment"]
    assert (ROOT / server["command"][0]).is_file()
    assert (ROOT / page["command"][3]).is_file()
    assert server["ports"][0].endswith(":" + server["command"][-1])
    assert page["environment"][SERVER_ADDRESS] == "http://server:" + server["command"][-1]
    assert not page["volumes"]
    assert "secrets" not in page
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
    address = plain(page["networks"]["front"]["ipv4_address"])
    (network,) = found["networks"]["front"]["ipam"]["config"]
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
    assert {*packages(), "scripts", "wheel_build"} <= {*taken}
