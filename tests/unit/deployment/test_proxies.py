"""The samples for nginx and Caddy carry what Footpath needs: a real proxy in front of a real server and two real pages.

Only names, ports and certificates of the samples are exchanged. A proxy that is not installed is skipped.
"""

import datetime as dt
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from tests.support.playground_process import running_playground
from tests.support.server_process import PASSWORD, WRITE, built
from tests.support.server_process import started as serving

ROOT = Path(__file__).resolve().parents[3]
SAMPLES = ROOT / "deploy"
NAME = "footpath.example.com"
BROWSER = "127.0.0.2"
"""Where requests come from, which the proxies do not."""
pytestmark = [pytest.mark.timeout(180), pytest.mark.outer]


@dataclass(frozen=True)
class Site:
    """``address``: of the proxy. ``log``: of the server behind it."""

    address: str
    log: Path

    @property
    def port(self) -> int:
        return int(self.address.rpartition(":")[2])

    def client(self) -> httpx.Client:
        transport = httpx.HTTPTransport(verify=False, local_address=BROWSER)
        return httpx.Client(base_url=self.address, headers={"Host": NAME}, transport=transport, timeout=30)


def free_ports(number: int) -> list[int]:
    with ExitStack() as bound:
        listeners = [bound.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(number)]
        return [listener.getsockname()[1] for listener in listeners]


def write_certificate(folder: Path) -> None:
    """Write a self-signed certificate and its key as the samples name them."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, NAME)])
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - dt.timedelta(days=1))
    made = builder.not_valid_after(now + dt.timedelta(days=2)).sign(key, hashes.SHA256())
    (folder / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "privkey.pem").write_bytes(pem)


def nginx(folder: Path, port: int, plain: int, server: str, pages: list[str]) -> list[str]:
    """Write the sample with another name for each place in it; the command that runs it."""
    write_certificate(folder)
    text = (SAMPLES / "nginx.conf").read_text()
    listed = "\n".join(f"    server {page};" for page in pages)
    text = re.sub(r" *server 127\.0\.0\.1:8501;\n *# server 127\.0\.0\.1:8502;", listed, text)
    text = text.replace("127.0.0.1:8000", server).replace("/etc/nginx/footpath", str(folder))
    text = text.replace("listen 443", f"listen 127.0.0.1:{port}").replace("listen 80", f"listen 127.0.0.1:{plain}")
    (folder / "footpath.conf").write_text(text)
    places = "".join(
        f"  {name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = f"daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n  access_log off;\n{places}"
    (folder / "nginx.conf").write_text(f"{whole}  include {folder}/footpath.conf;\n}}\n")
    command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr
    return command


def caddy(folder: Path, port: int, plain: int, server: str, pages: list[str]) -> list[str]:
    """Write the sample with another name for each place in it; the command that runs it."""
    write_certificate(folder)
    text = (SAMPLES / "Caddyfile").read_text()
    text = text.replace("reverse_proxy 127.0.0.1:8501 {", f"reverse_proxy {' '.join(pages)} {{").replace(
        "127.0.0.1:8000", server
    )
    text = text.replace(f"{NAME} {{", f"{NAME}:{port} {{\n\ttls {folder}/fullchain.pem {folder}/privkey.pem", 1)
    # default_sni: here the proxy is reached by its address, which TLS names nobody by.
    given = f"{{\n\tdefault_sni {NAME}\n\tadmin off\n\tauto_https disable_redirects\n\thttp_port {plain}\n\thttps_port {port}\n}}\n"
    (folder / "Caddyfile").write_text(given + text)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


@contextmanager
def running(command: list[str], health: str, folder: Path, headers: dict[str, str]) -> Generator[None]:
    environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    log = folder / f"{Path(command[0]).name}-{health.rpartition(':')[2].partition('/')[0]}.log"
    with log.open("w") as out, subprocess.Popen(command, stdout=out, stderr=out, env=environment) as process:
        try:
            end = time.monotonic() + 90
            while not answers(health, headers):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < end, log.read_text()
                time.sleep(0.1)
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def answers(url: str, headers: dict[str, str]) -> bool:
    try:
        return httpx.get(url, headers=headers, verify=False, trust_env=False, timeout=10).is_success
    except httpx.TransportError:
        return False


@dataclass(frozen=True)
class Behind:
    """What the proxies stand in front of, by host and port."""

    server: str
    pages: list[str]
    log: Path
    """Of the server: a line for each request, with who asked."""


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Generator[Behind]:
    folder = tmp_path_factory.mktemp("behind")
    with running_playground() as playground, ExitStack() as started:
        place = built(folder, playground)
        log = folder / "server.log"
        settings = {
            "FOOTPATH_SERVER_HOME": str(folder / "home"),
            "FOOTPATH_STORE": str(place.store),
            "FOOTPATH_ALLOW_HOSTS": playground.removeprefix("http://"),
            "FOOTPATH_HOSTS": NAME,
        }
        address, _ = started.enter_context(serving(settings, folder, started.enter_context(log.open("w"))))
        pages: list[str] = []
        for port in free_ports(2):
            command = [sys.executable, str(ROOT / "scripts" / "serve_page.py"), "--server", address]
            started.enter_context(
                running([*command, f"--port={port}"], f"http://127.0.0.1:{port}/_stcore/health", folder, {})
            )
            pages.append(f"127.0.0.1:{port}")
        yield Behind(address.removeprefix("http://"), pages, log)


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[Site]:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    behind: Behind = request.getfixturevalue("behind")
    folder, (port, plain) = tmp_path_factory.mktemp(request.param), free_ports(2)
    command = {"nginx": nginx, "caddy": caddy}[request.param](folder, port, plain, behind.server, behind.pages)
    address = f"https://127.0.0.1:{port}"
    with running(command, f"{address}/health", folder, {"Host": NAME}):
        yield Site(address, behind.log)


def log_in(http: httpx.Client, name: str) -> dict[str, str]:
    """Make an account; the headers of who is logged in."""
    answer = http.post("/api/v1/auth/register", json={"name": name, "password": PASSWORD})
    assert answer.status_code == 201, answer.text
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}


def test_the_server_learns_who_asks_and_believes_nothing_that_a_browser_says(site: Site) -> None:
    with site.client() as http:
        http.headers["X-Forwarded-For"] = "203.0.113.9"
        before = len(site.log.read_text())
        log_in(http, f"ada{site.port}")
    end = time.monotonic() + 30
    while not (lines := re.findall(r".*/auth/register 201 .*", site.log.read_text()[before:])):
        assert time.monotonic() < end, "the server's log has no line of the request"
        time.sleep(0.1)
    assert [line.split()[-1] for line in lines] == [BROWSER]


def test_events_come_while_a_run_waits(site: Site) -> None:
    """It waits for its user, so that what is held back until the end would never come."""
    with site.client() as http:
        headers = log_in(http, f"bea{site.port}")
        talk = http.post("/api/v1/conversations", json={}, headers=headers).json()["id"]
        asked = {"request": WRITE, "planner": "dfs"}
        run = http.post(f"/api/v1/conversations/{talk}/runs", json=asked, headers=headers).json()["id"]
        kinds: list[str] = []
        with http.stream("GET", f"/api/v1/runs/{run}/events", headers=headers) as answer:
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    kinds.append(line.removeprefix("event: "))
                if kinds[-1:] == ["input.needed"]:
                    break
        assert len(kinds) > 3
        assert http.get(f"/api/v1/runs/{run}", headers=headers).json()["status"] != "finished"
        http.post(f"/api/v1/runs/{run}/cancel", headers=headers)


def test_long_bodies_get_through_and_too_long_ones_do_not(site: Site) -> None:
    with site.client() as http:
        headers = log_in(http, f"cy{site.port}")
        large = bytes(40_000_000)
        upload = http.post("/api/v1/data/uploads?name=a.jsonl", content=large, headers=headers)
        assert upload.status_code == 403, "the server's own answer: only an administrator may"
        assert http.post("/api/v1/sources", content=large, headers=headers).status_code == 413


def test_figures_are_not_for_the_outside(site: Site) -> None:
    with site.client() as http:
        answer = http.get("/metrics")
        assert "footpath_" not in answer.text
        assert http.get("/health/ready").is_success


def websocket_answers(site: Site, cookies: str) -> bool:
    """Open the page as its script in a browser does, over the proxy; whether it draws something."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    rerun = BackMsg()
    rerun.rerun_script.query_string = ""
    listener = socket.create_connection(("127.0.0.1", site.port))
    headers = {"Cookie": cookies} if cookies else {}
    with connect(
        f"wss://{NAME}/_stcore/stream", sock=listener, ssl=trusting, server_hostname=NAME, origin=Origin(f"https://{NAME}"),
        subprotocols=[Subprotocol("streamlit")], additional_headers=headers, proxy=None,
    ) as socket_of_page:  # fmt: skip
        socket_of_page.send(rerun.SerializeToString())
        first = ForwardMsg.FromString(bytes(socket_of_page.recv(timeout=60)))  # pyright: ignore[reportArgumentType]
        return bool(first.WhichOneof("type"))


def test_a_browser_keeps_to_one_page_and_the_pages_share_browsers(site: Site) -> None:
    pages: set[str] = set()
    for _ in range(12):
        with site.client() as http:
            answer = http.get("/")
            assert "<title>" in answer.text
            cookies = "; ".join(f"{name}={value}" for name, value in answer.cookies.items())
            assert "footpath_page=" in cookies
            again = http.get("/", headers={"Cookie": cookies})
            assert "footpath_page" not in again.headers.get("set-cookie", ""), "the same one, so no other cookie"
            pages.add(cookies)
    assert len(pages) > 1
    assert websocket_answers(site, pages.pop())
