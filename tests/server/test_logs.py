"""The log: what each line carries, and that no secret gets into it, by whatever way it tries."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from sqlalchemy import text

from server.auth.passwords import Passwords
from server.runs.run_execution import RunExecution
from server.storage.storage import open_storage
from server.user_secrets import UserSecrets
from server.watching import secrecy
from server.watching.logs import REQUEST_ID, RUN_ID, Lines, set_up
from server.watching.secrecy import Secrecy, secrets_of
from tests.support.server_world import CHEAP, PASSWORD, World
from wiring.settings import Settings

KEY = "vault-key-0123456789"
SECRET = SecretStr
HELD: dict[str, Any] = {
    "database_url": SECRET("postgresql+asyncpg://footpath:p%40ssw0rd-of-rows@db.example.com/rows"),
    "vault_keys": SECRET(f"1:{KEY}"),
    "model_api_key": SECRET("sk-of-the-model"),
}
ENVIRONMENT = {
    "FOOTPATH_SECRET_MAPS": "key-of-the-maps",
    "FOOTPATH_SECRET_MAPS_HOSTS": "maps.example.com",
    "PATH": "/bin",
}


@pytest.fixture
def root() -> Iterator[None]:
    """The process' log as it was, afterwards."""
    logger = logging.getLogger()
    before, level = logger.handlers[:], logger.level
    yield
    logger.handlers[:] = before
    logger.setLevel(level)


@pytest.fixture
def written(root: None) -> io.StringIO:
    """What is written while the settings hold secrets."""
    stream = io.StringIO()
    set_up(Settings(log_format="json", **HELD), ENVIRONMENT, stream)
    return stream


def lines(stream: io.StringIO) -> list[dict[str, str]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.fixture
async def broken(world: World, written: io.StringIO) -> FastAPI:
    """An application with an operation that fails and tells too much."""

    async def fails(secret: str = "") -> None:
        raise ValueError(f"cannot go on with {secret}")

    world.app.add_api_route("/broken", fails)
    return world.app


@pytest.mark.parametrize(
    "leak",
    [
        "Authorization: Bearer abcdefghijklmnop",
        "authorization: bearer abcdefghijklmnop==",
        "Basic YWRhOnBhc3N3b3Jk",
        "the token fpa_3kTMd0123456789abcdefghij is old",
        "at https://ada:abcdefghijklmnop@example.com/x",
        "at redis://:abcdefghijklmnop@example.com",
        "postgresql+asyncpg://footpath:p%40ssw0rd-of-rows@db.example.com/rows",
        "password p@ssw0rd-of-rows refused",
        f"keys 1:{KEY}",
        "sk-of-the-model",
        "maps?key=key-of-the-maps",
        'arguments {"key": "key-of-the-maps"}',
    ],
)
def test_no_way_into_a_line(written: io.StringIO, leak: str) -> None:
    log = logging.getLogger("server.test")
    secret = (
        "abcdefghijklmnop",
        "YWRhOnBhc3N3b3Jk",
        "3kTMd",
        "ssw0rd-of-rows",
        KEY,
        "sk-of-the-model",
        "key-of-the-maps",
    )
    log.info(leak)
    log.info("an argument: %s", leak)
    log.info("arguments: %r", {"value": [leak]})
    try:
        try:
            raise ValueError(leak)
        except ValueError as error:
            raise RuntimeError("because of that") from error
    except RuntimeError:
        log.exception("failed")
    assert len(lines(written)) == 4
    assert "because of that" in lines(written)[3]["error"]
    for one in secret:
        assert one not in written.getvalue()
    assert written.getvalue().count("[secret]") >= 4


def test_what_is_no_secret_stays(written: io.StringIO) -> None:
    logging.getLogger("server.test").info(
        "GET http://example.com:8000/a?b=c mail ada@example.com, a bearer of news, fpa_short"
    )
    assert lines(written)[0]["message"].startswith(
        "GET http://example.com:8000/a?b=c mail ada@example.com, a bearer of"
    )


async def test_a_password_and_a_tool_key_are_held_back_while_they_are_in_hand(
    world: World, written: io.StringIO
) -> None:
    log = logging.getLogger("server.test")
    user = world.people["user"].id
    await world.services.storage.tool_keys.put(user, "weather", "key-of-the-weather", ["api.example.com"])

    class Nothing:
        async def has(self, name: str) -> bool:
            return False

        async def get_value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
            return None

        async def replace_refused(self, name: str, value: str) -> bool:
            return False

        def build_advice(self, name: str, host: str, port: int, needed: str = "a key") -> str:
            return ""

    async def run() -> None:
        secrecy.begin()
        secrets = UserSecrets(world.services.storage.tool_keys, world.services.oauth.of_users, user, Nothing())
        value = await asyncio.create_task(secrets.get_value("weather", "api.example.com", 443, encrypted=True))
        await Passwords(CHEAP).hash(PASSWORD)
        log.error("sent %s, hashed %s", value, PASSWORD)

    await asyncio.create_task(run())
    assert lines(written)[-1]["message"] == "sent [secret], hashed [secret]"
    log.error("afterwards, in another task: %s", PASSWORD)  # nobody can know that this is one
    assert PASSWORD in lines(written)[-1]["message"]


async def test_a_request_that_fails_tells_its_id_and_nothing_of_its_query(
    broken: FastAPI, world: World, written: io.StringIO
) -> None:
    token = (await world.headers_of("user"))["Authorization"]
    headers = {"X-Request-ID": "abc-1", "Authorization": token}
    answer = await world.client.get("/broken?secret=fpa_0123456789abcdefghijklmn", headers=headers)
    assert answer.status_code == 500
    assert answer.headers["X-Request-ID"] == "abc-1"
    told = [one for one in lines(written) if one["logger"] in ("server.access", "server.problems")]
    assert [one["request"] for one in told] == ["abc-1", "abc-1"]
    assert "cannot go on with [secret]" in told[0]["error"]
    assert told[1]["message"].startswith("GET /broken 500 ")
    assert "fpa_" not in written.getvalue()
    assert token.removeprefix("Bearer ") not in written.getvalue()


@pytest.mark.parametrize("given", ["", "a b", "x" * 65, "line\\nbreak", "{}", "ä"])
async def test_ids_of_requests(world: World, written: io.StringIO, given: str) -> None:
    answer = await world.client.get("/health", headers=[(b"X-Request-ID", given.encode())])
    made = answer.headers["X-Request-ID"]
    assert made != given
    assert len(made) == 32
    assert lines(written)[-1]["request"] == made


async def test_a_run_s_lines_carry_its_id(world: World, written: io.StringIO) -> None:
    headers = await world.headers_of("user")
    conversation = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
    place = f"/api/v1/conversations/{conversation}/runs"
    run = (await world.client.post(place, json={"request": "anything", "planner": "dfs"}, headers=headers)).json()["id"]
    await world.client.get(f"/api/v1/runs/{run}/events", headers=headers)
    told = [one for one in lines(written) if one["logger"] == RunExecution.__module__]
    assert [one["run"] for one in told] == [run] * len(told)
    assert told[0]["message"] == "taken up: planner dfs, policy offline"
    assert "anything" not in written.getvalue()


async def test_errors_of_the_database_show_no_parameters(tmp_path: Path, written: io.StringIO) -> None:
    value = "-".join(("what", "was", "sent"))  # put together here, since the traceback shows the lines of this file
    async with open_storage(Settings(server_home=tmp_path)) as storage:
        for asking in (storage.database.read_session, storage.database.write_session):
            try:
                async with asking() as session:
                    await session.execute(text("SELECT :secret FROM nothing"), {"secret": value})
            except Exception:
                logging.getLogger("server.test").exception("failed")
    assert len(lines(written)) == 2
    assert "nothing" in lines(written)[0]["error"]
    assert value not in written.getvalue()


def test_a_line_of_text(root: None) -> None:
    stream = io.StringIO()
    set_up(Settings(log_level="warning", **HELD), {}, stream)
    run, request = RUN_ID.set("r-1"), REQUEST_ID.set("q-1")
    logging.getLogger("server.test").info("not told")
    logging.getLogger("httpx").info("not told either")
    logging.getLogger("server.test").warning("a\nb \x1b[31m %s", "sk-of-the-model")
    RUN_ID.reset(run)
    REQUEST_ID.reset(request)
    (line,) = stream.getvalue().splitlines()
    assert line.endswith(r"warning server.test run=r-1 request=q-1: a\nb \x1b[31m [secret]")


def test_which_secrets_are_known() -> None:
    found = secrets_of(Settings(**HELD), ENVIRONMENT)
    assert {KEY, "sk-of-the-model", "p@ssw0rd-of-rows", "key-of-the-maps"} <= set(found)
    assert "maps.example.com" not in found
    assert secrets_of(Settings(database_url=SecretStr("no address")), {}) == ["no address"]
    assert "p@ss:w/rd" in secrets_of(Settings(database_url=SecretStr("postgresql+asyncpg://u:p@ss:w/rd@h/d")), {})


def test_short_ones_would_take_half_of_the_words() -> None:
    assert Secrecy(["a", "the"]).clean("a line of the log") == "a line of the log"
    assert isinstance(Lines(Secrecy(), json=True), logging.Formatter)


def test_a_client_that_went_away_is_no_fault(written: io.StringIO) -> None:
    logger = logging.getLogger("mcp.server.streamable_http")
    for error in (anyio.ClosedResourceError(), anyio.BrokenResourceError(), ValueError("a fault")):
        try:
            raise error
        except Exception:
            logger.exception("Error in the writer of events")
    assert written.getvalue().count("Error in the writer of events") == 1
    assert "a fault" in written.getvalue()
