"""Secrets from variables: names, hosts, encryption, advice; never a value in what is said."""

import pytest

from agent.execution.secret_store import EnvironmentSecrets, to_variable_name
from domain.errors import SecretError

VALUE = "s3cr3t-value"


def secrets(hosts: str | None = "api.example.com, [::1]:8000,http://intranet.example:8080") -> EnvironmentSecrets:
    found = {"FOOTPATH_SECRET_MY_KEY": f" {VALUE}\n", "PATH": "/bin"}
    return EnvironmentSecrets(found if hosts is None else {**found, "FOOTPATH_SECRET_MY_KEY_HOSTS": hosts})


@pytest.mark.parametrize(
    ("name", "expected"), [("my_key", "FOOTPATH_SECRET_MY_KEY"), ("My-key.é", "FOOTPATH_SECRET_MY_KEY__")]
)
def test_the_variable_of_a_name(name: str, expected: str) -> None:
    assert to_variable_name(name) == expected


@pytest.mark.parametrize(
    ("host", "port", "encrypted"),
    [
        ("api.example.com", 443, True),
        ("API.example.com.", 8443, True),
        ("::1", 8000, False),
        ("intranet.example", 8080, False),
    ],
)
async def test_it_goes_to_its_hosts(host: str, port: int, encrypted: bool) -> None:
    assert await secrets().get_value("my-key", host, port, encrypted=encrypted) == VALUE


@pytest.mark.parametrize(
    ("host", "port", "encrypted", "says"),
    [
        ("evil.example", 443, True, "not allowed for evil.example:443; if it belongs there, add evil.example:443 to FOOTPATH_SECRET_MY_KEY_HOSTS"),
        ("api.example.com.evil.example", 443, True, "not allowed"),
        ("xapi.example.com", 443, True, "not allowed"),
        ("::1", 8001, False, "not allowed for [::1]:8001"),
        ("intranet.example", 80, False, "not allowed"),
        ("api.example.com", 80, False, "over http; use https, or add http://api.example.com:80 to FOOTPATH_SECRET_MY_KEY_HOSTS"),
    ],
)  # fmt: skip
async def test_and_nowhere_else(host: str, port: int, encrypted: bool, says: str) -> None:
    with pytest.raises(SecretError) as error:
        await secrets().get_value("my_key", host, port, encrypted=encrypted)
    assert says in str(error.value)
    assert VALUE not in str(error.value)


async def test_without_hosts_it_goes_nowhere() -> None:
    with pytest.raises(SecretError, match=r"add api\.example\.com:443 to FOOTPATH_SECRET_MY_KEY_HOSTS"):
        await secrets(None).get_value("my_key", "api.example.com", 443, encrypted=True)


async def test_one_that_is_not_there_is_advised() -> None:
    made = secrets()
    assert (await made.has("other"), await made.has("my_key")) == (False, True)
    assert await made.get_value("other", "api.example.com", 443, encrypted=True) is None
    assert made.build_advice("other", "api.example.com", 443) == (
        "a key is needed: set FOOTPATH_SECRET_OTHER to it and FOOTPATH_SECRET_OTHER_HOSTS to api.example.com:443"
    )


def test_its_representation_has_no_value() -> None:
    assert VALUE not in repr(secrets())
