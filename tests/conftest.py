"""What every test gets: a clean environment, no network but loopback, a guard on the event loop, hypothesis profiles."""

import gc
import os
import signal
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from tests.support.certificates import certificates_read_once
from tests.support.fixture_guards import guarded_event_loop, guarded_sockets
from tests.support.shared_files import SHARED_DATA
from wiring.settings import Settings

pytest_plugins = ["tests.servers.plugin"]


# A shell ignores SIGINT for what it starts in the background; what tests start there would ignore Ctrl-C, too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "ci", derandomize=True, deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("dev", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
# For make mutate, which asks whether an example fails, not for the shortest one.
settings.register_profile("mutation", settings.get_profile("ci"), phases=(Phase.explicit, Phase.generate))
# Repeatable unless one asks for new examples: HYPOTHESIS_PROFILE=dev make test.
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is imported and made for all tests stays: it is not looked through for garbage, neither now nor between tests."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """A developer's own settings never change what a test sees."""
    for name in list(os.environ):
        if name.startswith("FOOTPATH_"):
            monkeypatch.delenv(name)
    monkeypatch.setitem(Settings.model_config, "env_file", None)


@pytest.fixture(autouse=True)
def _loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """What pytest-socket leaves open: name look-ups, datagrams and ``connect_ex``."""
    guarded_sockets(monkeypatch)


@pytest.fixture(autouse=True)
def _main_module_stays(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """A page under test puts its script in the place of ``__main__``, which every process that a later test spawns would run."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(autouse=True)
def _event_loop_never_blocks(request: pytest.FixtureRequest) -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    """A blocking call of our packages on the event loop fails the test; measurements run unguarded."""
    if request.node.get_closest_marker("bench"):  # pyright: ignore[reportUnknownMemberType]
        yield
        return
    with guarded_event_loop():
        yield


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    """Every client of httpx reads all certificates anew, which takes longer than what most tests ask: here clients of one kind share them."""
    with certificates_read_once():
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The public data beside the project (``$FOOTPATH_SHARED_DATA``), or a skip."""
    if not (SHARED_DATA / "README.md").is_file():
        pytest.skip("no data set beside the project: set FOOTPATH_SHARED_DATA to its folder")
    return SHARED_DATA
