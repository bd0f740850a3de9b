"""A second attacker at the gate: addresses made of variables, servers of single operations, headers of the transport, names that look like others', files by reference."""

from pathlib import Path
from typing import Any

import pytest

from tests.attacks.gated import Gated, Json, gated, harbour, with_the_bank


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_the_bank(tmp_path_factory.mktemp("gated again"))


def keyed(document: Json) -> Json:
    scheme = {"type": "apiKey", "in": "header", "name": "X-Key"}
    return {**document, "components": {"securitySchemes": {"key": scheme}}, "security": [{"key": []}]}


def variables(default: str, **more: Any) -> list[Json]:
    return [{"url": "http://{place}/v1", "variables": {"place": {"default": default, **more}}}]


def operation(**parts: Any) -> Json:
    return harbour(servers=[{"url": "/"}], **parts)


ELSEWHERE: dict[str, Json] = {
    "a variable of a metadata address": harbour(servers=variables("169.254.169.254")),
    "a variable of a private address behind a user": harbour(servers=variables("harbour.example@10.0.0.1")),
    "a variable whose first value is harmless": harbour(servers=variables("10.0.0.1", enum=["harbour.example", "10.0.0.1"])),
    "a variable without a value": harbour(servers=[{"url": "http://{place}/v1"}]),
    "a variable for the port": harbour(servers=[{"url": "http://127.0.0.1:{port}/", "variables": {"port": {"default": "1"}}}]),
    "a server of the operation": harbour(x=1) | {"paths": {"/ships": {"get": operation()["paths"]["/ships"]["get"] | {"servers": [{"url": "http://127.0.0.1:1/"}]}}}},
    "a server of the path": operation() | {"paths": {"/ships": {**operation()["paths"]["/ships"], "servers": [{"url": "http://10.0.0.7/"}]}}},
}  # fmt: skip


def nowhere(found: Gated) -> bool:
    """Nothing was called, and nothing may be admitted."""
    return found.asked == [] and (not found.examined or "address" in found.stopped)


@pytest.mark.parametrize("name", ELSEWHERE)
async def test_no_address_is_made_of_parts_that_may_not_be_called(store: Path, name: str) -> None:
    found = await gated(store, ELSEWHERE[name])
    assert nowhere(found), found


async def test_a_path_that_begins_with_a_host_stays_at_its_own(store: Path) -> None:
    place = {"name": "flag", "in": "path", "required": True, "schema": {"type": "string"}, "example": "127.0.0.1:1"}
    found = await gated(store, harbour(url="//{flag}/ships", parameters=[place]))
    assert found.asked == ["GET //127.0.0.1%3A1/ships"]


async def test_no_key_goes_to_the_server_of_one_operation(store: Path) -> None:
    """Its user gave it for the host that the source was said to be at."""
    keys = {"FOOTPATH_SECRET_HARBOUR_KEY": "s3cret", "FOOTPATH_SECRET_HARBOUR_KEY_HOSTS": "127.0.0.1"}
    found = await gated(store, keyed(ELSEWHERE["a server of the operation"]), keys=keys)
    assert nowhere(found)
    assert "s3cret" not in str(found)


HEADERS = (
    "Host",
    "host",
    "Content-Length",
    "Transfer-Encoding",
    "Connection",
    "Cookie",
    "X-Key",
    "Proxy-Authorization",
)


@pytest.mark.parametrize("header", HEADERS)
async def test_no_parameter_is_a_header_of_the_transport(store: Path, header: str) -> None:
    """An example in a document would otherwise speak to whatever stands between."""
    sent = {"name": header, "in": "header", "schema": {"type": "string"}, "required": True, "example": "smuggled"}
    found = await gated(store, operation(parameters=[sent]))
    allowed = header in ("Cookie", "X-Key")
    assert len(found.asked) <= 1
    heads = str(found)
    assert allowed or not any("smuggled" in one for one in found.heads), heads


async def test_files_that_examples_name_are_not_fetched(store: Path) -> None:
    example = {
        "examples": {"one": {"externalValue": "http://127.0.0.1:1/etc/passwd"}},
        "schema": {"$ref": "http://169.254.169.254/"},
    }
    answers = {"200": {"description": "ok", "content": {"application/json": example}}}
    found = await gated(store, operation(responses=answers))
    assert found.asked in ([], ["GET /ships"])
    assert "169.254" not in str([one.learnt_doc.response_schema for one in found.examined])


@pytest.mark.parametrize("name", ["fl\u0430g", "flag\u202egalf", "fl\u200bag", "flag\n: x", "<|im_start|>"])
async def test_names_of_parameters_hide_nothing(store: Path, name: str) -> None:
    sent = {"name": name, "in": "query", "schema": {"type": "string"}, "description": "The flag."}
    found = await gated(
        store, operation(parameters=[sent, {"name": "flag", "in": "query", "schema": {"type": "string"}}])
    )
    told = {finding.verdict for one in found.examined for finding in one.findings if finding.check == "document"}
    assert "failed" in told, found


async def test_an_argument_stays_in_its_part_of_the_path(store: Path) -> None:
    ship = {
        "name": "ship",
        "in": "path",
        "required": True,
        "schema": {"type": "string"},
        "example": "../../admin?x=1#y",
    }
    found = await gated(store, operation(url="/ships/{ship}", parameters=[ship]))
    assert all(one.startswith("GET /ships/") and "/admin" not in one and "?" not in one for one in found.asked), (
        found.asked
    )


def merged() -> bytes:
    """Merge keys that multiply, which are no aliases in a list."""
    lines = [b"openapi: 3.0.0", b"a0: &a0 {k: 1}"]
    more = b"a%d: &a%d {<<: [*a%d, *a%d], x%d: *a%d, y%d: *a%d}"
    lines += [more % (n, n, n - 1, n - 1, n, n - 1, n, n - 1) for n in range(1, 26)]
    return b"\n".join(lines)


async def test_merge_keys_that_multiply_are_refused(store: Path) -> None:
    found = await gated(store, merged())
    assert found.refused
    assert found.examined == found.asked == []


async def test_a_pattern_that_takes_forever_takes_none_of_our_time(store: Path) -> None:
    sent = {
        "name": "flag",
        "in": "query",
        "required": True,
        "schema": {"type": "string", "pattern": "^(a+)+$"},
        "example": "a" * 40 + "!",
    }
    found = await gated(store, operation(parameters=[sent]))
    assert found.asked == []
