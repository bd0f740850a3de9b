"""What the caller supplies: keys that catalogues declare as parameters, and the key of a repeated write."""

from agent.execution.secret_store import EnvironmentSecrets
from agent.execution.supplied_values import (
    CachedSecretNames,
    apply_supplied_values,
    describe_missing_secrets,
    find_required_secrets,
)
from domain.tool import Credential, Location, Parameter, ToolDoc, make_tool_id

HAVING = EnvironmentSecrets({"FOOTPATH_SECRET_MY_SET_API_KEY": "v"})


def tool(*parameters: Parameter, method: str = "GET") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", "My Set", "a"), category="c", toolset="My Set", api="a", function="a", method=method,
        url="https://api.example.com/a", parameters=parameters,
    )  # fmt: skip


def key(location: Location = "query", name: str = "api_key") -> Parameter:
    return Parameter(name=name, location=location, required=True)


async def test_a_key_parameter_becomes_a_credential_where_its_secret_is_there() -> None:
    made = await apply_supplied_values(tool(Parameter(name="q"), key()), HAVING)
    assert [parameter.name for parameter in made.parameters] == ["q"]
    assert made.credentials == (Credential(secret="my_set_api_key", place="query", name="api_key"),)


async def test_without_its_secret_it_stays_a_parameter_that_is_missing() -> None:
    given = tool(key())
    assert await apply_supplied_values(given, EnvironmentSecrets({})) is given
    assert await apply_supplied_values(given.model_copy(update={"toolset": "Other"}), HAVING) == given.model_copy(
        update={"toolset": "Other"}
    )


async def test_a_key_in_the_path_or_body_is_not_filled() -> None:
    for place in ("path", "body"):
        given = tool(key(place))
        assert await apply_supplied_values(given, HAVING) is given


async def test_what_is_no_key_is_not_taken_for_one() -> None:
    secrets = EnvironmentSecrets({"FOOTPATH_SECRET_MY_SET_CITY": "v"})
    given = tool(Parameter(name="city"))
    assert await apply_supplied_values(given, secrets) is given


async def test_an_idempotency_key_is_no_parameter_and_makes_a_write_repeatable() -> None:
    given = tool(Parameter(name="text", location="body"), key("header", "idempotency-key"), method="POST")
    made = await apply_supplied_values(given, EnvironmentSecrets({}))
    assert (given.repeatable, made.repeatable, made.idempotency_header) == (False, True, "idempotency-key")
    assert [parameter.name for parameter in made.parameters] == ["text"]


async def test_any_header_or_cookie_is_filled_by_its_secret_and_only_keys_are_hidden() -> None:
    names = ("MY_SET_API_KEY", "MY_SET_API_USERNAME", "MY_SET_LANG", "MY_SET_X_DEPOT_KEY")
    secrets = EnvironmentSecrets({f"FOOTPATH_SECRET_{name}": "v" for name in names})
    user = Parameter(name="Api-Username", location="header", required=True)
    lang, depot = Parameter(name="lang", location="cookie"), Parameter(name="X-Depot-Key", location="header")
    made = await apply_supplied_values(tool(Parameter(name="q"), key("header", "Api-Key"), user, lang, depot), secrets)
    assert [parameter.name for parameter in made.parameters] == ["q"]
    assert [(one.name, one.place, one.hidden) for one in made.credentials] == [
        ("Api-Key", "header", True), ("Api-Username", "header", False), ("lang", "cookie", False), ("X-Depot-Key", "header", True),
    ]  # fmt: skip


async def test_advice_names_the_secret_of_each_required_parameter_that_no_request_gives() -> None:
    given = tool(
        key("header", "Api-Key"),
        Parameter(name="Api-Username", location="header", required=True),
        Parameter(name="X-Version", location="header", required=True, default="2"),
        Parameter(name="X-Trace", location="header"),
        Parameter(name="city", required=True),
        key("header", "Idempotency-Key"),
        key("body", "token"),
    )
    assert list(find_required_secrets(given)) == ["my_set_api_key", "my_set_api_username"]
    assert await describe_missing_secrets(given, HAVING) == (
        "Api-Username is needed: set FOOTPATH_SECRET_MY_SET_API_USERNAME to it and"
        " FOOTPATH_SECRET_MY_SET_API_USERNAME_HOSTS to api.example.com:443",
    )
    assert len(await describe_missing_secrets(given, EnvironmentSecrets({}))) == 2
    assert await describe_missing_secrets(given, EnvironmentSecrets({}), {"city"}) == ()
    for url in ("", "stdio:notes", "https://[broken"):
        assert await describe_missing_secrets(given.model_copy(update={"url": url}), EnvironmentSecrets({})) == ()


async def test_a_name_is_looked_up_once() -> None:
    looked_up: list[str] = []

    class Counting(EnvironmentSecrets):
        async def has(self, name: str) -> bool:
            looked_up.append(name)
            return await super().has(name)

    secrets = CachedSecretNames(Counting({"FOOTPATH_SECRET_MY_SET_API_KEY": "v"}))
    for _ in range(3):
        assert (await apply_supplied_values(tool(key()), secrets)).credentials
    assert looked_up == ["my_set_api_key"]
