"""The Compose file is what the Compose Specification allows, and the image and it keep the house rules. Nothing is run."""

import re
import shutil
import subprocess
import sys
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import typer
from ruamel.yaml import YAML

from domain.client_addresses import TrustedProxies
from footpath.command import import_script
from footpath.command_table import COMMANDS
from server.storage.database import MAX_CONNECTIONS
from tests.support.source_tree import packages
from ui import PAGE_PROXIES, SERVER_ADDRESS

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "docker-compose.yml"
PUBLISHED = ROOT / "docker" / "published-stores.yml"
STORES = ("neo4j", "qdrant", "postgres")
DOCKERFILE = ROOT / "docker" / "Dockerfile"
PINNED = re.compile(r"^[a-z0-9/]+:v?\d+(\.\d+)+[\w.-]*(@sha256:[0-9a-f]{64})?$")


def compose(file: Path = FILE) -> dict[str, Any]:
    return YAML(typ="safe").load(file)  # pyright: ignore[reportUnknownMemberType]


def command_app(name: str) -> typer.Typer:
    """A command of ``footpath`` as its script defines it."""
    app = typer.Typer(add_completion=False)
    app.command(name)(import_script(COMMANDS[name].script).main)
    return app


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
        profiles = ["--profile=app", "--profile=small"]
        command = ["docker", "compose", *named, f"--project-directory={ROOT}", *profiles, "config", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", sorted(compose()["services"]))
def test_services_are_pinned_guarded_and_bounded(name: str) -> None:
    service = compose()["services"][name]
    assert PINNED.match(service["image"])
    assert set(service["profiles"]) <= {"stores", "app", "command", "small"}
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
    assert set(published) == {"server", "page", "small"}
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


def plain(text: str) -> str:
    """Without variables: their defaults, the inner ones first."""
    while (shorter := re.sub(r"\$\{\w+:-([^${}]*)\}", r"\1", text)) != text:
        text = shorter
    return text


def test_pages_are_proxies_that_the_server_believes_however_many_there_are() -> None:
    """By the range of addresses that containers get: a name has none until it is up. The gateway is what comes from this machine."""
    found = compose()
    page, server = found["services"]["page"], found["services"]["server"]
    assert page["networks"] == ["front"], "an address of its own is one page's"
    (network,) = found["networks"]["front"]["ipam"]["config"]
    subnet, given = (ip_network(plain(network[name])) for name in ("subnet", "ip_range"))
    assert given.subnet_of(subnet)  # pyright: ignore[reportArgumentType]
    assert network["ip_range"] in server["environment"]["FOOTPATH_TRUSTED_PROXIES"]
    believed = TrustedProxies(plain(server["environment"]["FOOTPATH_TRUSTED_PROXIES"]))
    assert all(believed.find_client(str(one), ["203.0.113.9"]) == "203.0.113.9" for one in (given[1], given[-2]))
    gateway = plain(network["gateway"])
    assert ip_address(gateway) in subnet
    assert believed.find_client(gateway, ["203.0.113.9"]) == gateway
    in_front = TrustedProxies(plain(page["environment"][PAGE_PROXIES]))
    assert in_front.find_client(gateway, ["203.0.113.9"]) == "203.0.113.9"


def test_the_stores_are_watched_and_keep_their_data() -> None:
    found = compose()
    kept = {name: [volume.partition(":") for volume in found["services"][name]["volumes"]] for name in STORES}
    assert all(volume in found["volumes"] for volumes in kept.values() for volume, _, _ in volumes)
    assert [place for _, _, place in kept["qdrant"]] == ["/qdrant/storage", "/qdrant/snapshots"]
    assert all(found["services"][name]["healthcheck"]["test"][0] == "CMD" for name in STORES)
    waits = found["services"]["server"]["depends_on"]
    assert {name: wait["condition"] for name, wait in waits.items()} == dict.fromkeys(STORES, "service_healthy")


def test_the_server_is_the_application_and_the_page_knows_it_alone() -> None:
    services = compose()["services"]
    app, server, page = (services[name] for name in ("app", "server", "page"))
    assert server["environment"] == app["environment"]
    assert server["ports"][0].endswith(":" + server["command"][-1])
    assert page["environment"][SERVER_ADDRESS] == "http://server:" + server["command"][-1]
    assert not page["volumes"]
    assert "secrets" not in page
    assert page["depends_on"]["server"]["condition"] == "service_healthy"


def test_what_containers_run_are_commands() -> None:
    words = [line.split(maxsplit=1) for line in DOCKERFILE.read_text().splitlines() if line.startswith("ENTRYPOINT")]
    assert words == [["ENTRYPOINT", '["footpath"]']]
    commands = {name: service["command"] for name, service in compose()["services"].items() if "build" in service and "command" in service}  # fmt: skip
    assert set(commands) == {"server", "page", "small"}
    for name, (command, *given) in commands.items():
        parser = typer.main.get_command(command_app(command))
        parser.make_context(name, list(given))


def test_nothing_that_ends_is_started_with_what_stays() -> None:
    """``up --wait`` fails where a container ends. A command is run by its name, whose profile is then on."""
    services = compose()["services"]
    ending = {name for name, service in services.items() if service.get("restart") == "no"}
    assert ending == {"app"}
    assert services["app"]["profiles"] == ["command"]
    started = {name for name, service in services.items() if "app" in service["profiles"]}
    assert started == {*STORES, "server", "page"}
    for name in ("app", "server"):
        assert set(services[name]["depends_on"]) <= started, "what it waits for is not on by itself"


def test_the_database_has_connections_for_the_servers_that_have_a_port_and_for_a_command() -> None:
    services = compose()["services"]
    [allowed] = [int(match[1]) for part in services["postgres"]["command"] if (match := re.search(r"max_connections=(\d+)", plain(part)))]  # fmt: skip
    first, last = map(int, plain(services["server"]["ports"][0]).split(":")[1].split("-"))
    of_superusers = 3
    assert allowed - of_superusers >= MAX_CONNECTIONS * (last - first + 1 + 1)


def test_one_container_has_all_and_asks_no_server() -> None:
    found = compose()
    small, server = found["services"]["small"], found["services"]["server"]
    assert not small["depends_on"]
    assert small["networks"] == ["front"]
    own = {name: value for name, value in small["environment"].items() if server["environment"].get(name) != value}
    assert set(own) == {"FOOTPATH_GRAPH_URL", "FOOTPATH_VECTOR_URL", "FOOTPATH_TRUSTED_PROXIES", PAGE_PROXIES, "HOME"}
    assert not own["FOOTPATH_GRAPH_URL"]
    assert not own["FOOTPATH_VECTOR_URL"]
    assert TrustedProxies(plain(own["FOOTPATH_TRUSTED_PROXIES"])).is_trusted("127.0.0.1"), "the page is within it"
    data, secrets = small["volumes"]
    assert data.partition(":")[0] in found["volumes"]
    assert secrets["source"] != server["volumes"][1]["source"], "there the address of PostgreSQL lies"
    assert {**secrets, "source": ""} == {**server["volumes"][1], "source": ""}
    assert small["healthcheck"]["test"] == found["services"]["page"]["healthcheck"]["test"]
    assert [port.rpartition(":")[2] for port in small["ports"]] == ["8000", "8501"]


def test_the_image_has_stages_a_pinned_base_and_no_root() -> None:
    lines = [line.split() for line in DOCKERFILE.read_text().splitlines() if line and not line.startswith("#")]
    bases = [words[1] for words in lines if words[0] == "FROM"]
    assert len(bases) == 3
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
