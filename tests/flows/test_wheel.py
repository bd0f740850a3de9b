"""The wheel where nothing else of ours is: in a fresh environment, within a project that has packages of its own by our names."""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from tests.support.playground_process import running_playground

ROOT = Path(__file__).parents[2]
NEWER = os.environ.get("FOOTPATH_WHEEL_PYTHON", "") or "python3.13"  # read here: no test sees FOOTPATH_ variables
WEATHER = "What is the temperature in Tarnholm right now?"
PROJECT = """
import agent, domain, graph, server, ui
from footpath import Footpath

assert all(one.MINE for one in (agent, domain, graph, server, ui))
Footpath.build("my-store", ["catalogue.json"])
with Footpath.open("my-store") as footpath:
    print(footpath.find("weather", 1)[0].id)
    print(footpath.ask("What is the temperature in Tarnholm right now?").text)
import sys
print(sorted(name for name in sys.modules if name.partition(".")[0] in ("retriever", "wiring", "offline", "evaluation")))
"""
pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    code = f"from wheel_build.backend import build_wheel; build_wheel({str(folder)!r})"
    built = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the wheel, and what it depends on lent by the environment of the tests; our checkout is not on its path."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "lent.pth").write_text(f"{Path(httpx.__file__).parents[1]}\n")
    installed(wheel, folder)
    return folder


@pytest.fixture(scope="module")
def newer(wheel: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """An empty environment of Python 3.13 with the wheel, and with what is pinned as far as uv has it at hand: no network is asked."""
    folder = tmp_path_factory.mktemp("newer")
    uv, offline = shutil.which("uv") or "uv", ("--offline", "--python", str(folder / "bin" / "python"))
    for command in (
        [NEWER, "-c", "import sys; sys.exit(sys.version_info[:2] != (3, 13))"],
        [uv, "venv", "--quiet", "--allow-existing", "--offline", "--python", NEWER, str(folder)],
        [uv, "pip", "install", "--quiet", *offline, "--requirement", str(ROOT / "requirements.lock")],
    ):
        if why := failed(command):
            told = f"the wheel is not tested on Python 3.13 (FOOTPATH_WHEEL_PYTHON names one; make dev PYTHON=… fetches its packages): {why}"
            if "python3.13" in (request.config.getoption("require") or []):
                pytest.fail(f"--require=python3.13: {told}", pytrace=False)
            pytest.skip(told)
    installed(wheel, folder)
    return folder


def failed(command: list[str]) -> str:
    """The last line of what a command says, where it cannot be run to a good end."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    return (done.stderr.strip().splitlines() or [f"{command[0]} ended with {done.returncode}"])[-1] if done.returncode else ""  # fmt: skip


def installed(wheel: Path, folder: Path) -> None:
    """Without bytecode of its 2,000 files: the few that a process imports are compiled then."""
    python = str(folder / "bin" / "python")
    install = ["-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    done = subprocess.run([sys.executable, *install, str(wheel)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with running_playground() as address:
        yield address


@pytest.fixture(scope="module")
def project(address: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of somebody else's."""
    return project_in(tmp_path_factory.mktemp("project"), address)


def project_in(folder: Path, address: str) -> Path:
    for name in ("agent", "domain", "graph", "scripts", "server", "ui", "wiring"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("MINE = True\n")
    (folder / "main.py").write_text(PROJECT)
    (folder / "catalogue.json").write_bytes(httpx.get(f"{address}/openapi.json", trust_env=False).content)
    return folder


def settings(environment: Path, address: str) -> dict[str, str]:
    """The sandbox's program is found by PATH, where it is lent."""
    path = os.pathsep.join([str(environment / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]])
    return {"PATH": path, "FOOTPATH_ALLOW_HOSTS": address.removeprefix("http://"), "HOME": str(environment)}


def run(environment: Path, project: Path, address: str, *command: str) -> str:
    given = settings(environment, address)
    done = subprocess.run(
        [str(environment / "bin" / command[0]), *command[1:]], cwd=project, env=given, capture_output=True, text=True, timeout=120, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_lies_below_one_name(environment: Path) -> None:
    site = next(environment.glob("lib/python*/site-packages"))
    assert {path.name.partition("-")[0] for path in site.iterdir()} == {"footpath", "lent.pth"}
    assert {"agent", "domain", "py.typed", "scripts", "server", "ui"} <= {
        path.name for path in (site / "footpath").iterdir()
    }
    [info] = site.glob("*.dist-info")
    assert (info / "top_level.txt").read_text().split() == ["footpath"]


def test_a_project_with_packages_of_our_names_works_with_it(environment: Path, project: Path, address: str) -> None:
    works_beside_it(environment, project, address)
    offered = run(
        environment, project, address, "footpath", "find", WEATHER, "--explain", "--store", "my-store", "--json"
    )
    assert json.loads(offered)["tools"]


def works_beside_it(environment: Path, project: Path, address: str) -> None:
    found, answer, *_, ours = run(environment, project, address, "python", "main.py").splitlines()
    assert found.startswith("Weather/")
    assert answer == "7.3"
    assert ours == "[]"
    asked = run(
        environment, project, address, "python", "-m", "footpath", "ask", WEATHER, "--store", "my-store", "--json"
    )
    assert json.loads(asked)["outcome"] == "answered"


def test_server_and_page_serve_its_store(environment: Path, project: Path, address: str) -> None:
    served(environment, project, address)


def served(environment: Path, project: Path, address: str) -> None:
    ports = ["--page-port", "0", "--server-port", "0"]
    command = [str(environment / "bin" / "footpath"), "up", "--store", "my-store", *ports]
    with subprocess.Popen(
        command, cwd=project, env=settings(environment, address), stdout=subprocess.PIPE, text=True
    ) as up:
        assert up.stdout is not None
        told = dict(line.split(": ", 1) for line in (up.stdout.readline().strip() for _ in range(2)))
        try:
            with httpx.Client(trust_env=False, timeout=10) as client:
                assert client.get(told["server"] + "/health").json() == {"status": "ok"}
                assert client.get(told["page"]).is_success
        finally:
            up.terminate()
    assert up.returncode == 0


def test_in_an_empty_environment_of_a_newer_python(newer: Path, address: str, tmp_path: Path) -> None:
    project = project_in(tmp_path, address)
    works_beside_it(newer, project, address)
    served(newer, project, address)


def test_messages_say_the_command_rather_than_a_script(environment: Path, project: Path, address: str) -> None:
    given = settings(environment, address)
    command = [str(environment / "bin" / "footpath"), "find", "x", "--store", "nowhere"]
    done = subprocess.run(command, cwd=project, env=given, capture_output=True, text=True, check=False)
    assert (done.returncode, "footpath build --store nowhere" in done.stderr) == (3, True)
