"""What the caller supplies: keys that catalogues declare as parameters, and the key of a repeated write."""

from agent.execution.caller_supplied import with_supplied
from agent.execution.secrets import EnvironmentSecrets
from domain.tool import Credential, Location, Parameter, ToolDoc, tool_id

HAVING = EnvironmentSecrets({"FOOTPATH_SECRET_MY_SET_API_KEY": "v"})


def tool(*parameters: Parameter, method: str = "GET") -> ToolDoc:
    return ToolDoc(
        id=tool_id("c", "My Set", "a"), category="c", toolset="My Set", api="a", function="a", method=method,
        url="https://api.example.com/a", parameters=parameters,
    )  # fmt: skip


def key(location: Location = "query", name: str = "api_key") -> Parameter:
    return Parameter(name=name, location=location, required=True)


async def test_a_key_parameter_becomes_a_credential_where_its_secret_is_there() -> None:
    made = await with_supplied(tool(Parameter(name="q"), key()), HAVING)
    assert [parameter.name for parameter in made.parameters] == ["q"]
    assert made.credentials == (Credential(secret="my_set_api_key", place="query", name="api_key"),)


async def test_without_its_secret_it_stays_a_parameter_that_is_missing() -> None:
    given = tool(key())
    assert await with_supplied(given, EnvironmentSecrets({})) is given
    assert await with_supplied(given.model_copy(update={"toolset": "Other"}), HAVING) == given.model_copy(
        update={"toolset": "Other"}
    )


async def test_a_key_in_the_path_or_body_is_not_filled() -> None:
    for place in ("path", "body"):
        given = tool(key(place))
        assert await with_supplied(given, HAVING) is given


async def test_what_is_no_key_is_not_taken_for_one() -> None:
    secrets = EnvironmentSecrets({"FOOTPATH_SECRET_MY_SET_CITY": "v"})
    given = tool(Parameter(name="city"))
    assert await with_supplied(given, secrets) is given


async def test_an_idempotency_key_is_no_parameter_and_makes_a_write_repeatable() -> None:
    given = tool(Parameter(name="text", location="body"), key("header", "idempotency-key"), method="POST")
    made = await with_supplied(given, EnvironmentSecrets({}))
    assert (given.repeatable, made.repeatable, made.idempotency_header) == (False, True, "idempotency-key")
    assert [parameter.name for parameter in made.parameters] == ["text"]
