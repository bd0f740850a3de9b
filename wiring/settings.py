"""All settings, validated and read once.

They come from environment variables with the prefix ``FOOTPATH_``, a ``.env`` file, or files of secrets.
"""

import re
import shlex
import sys
from collections.abc import Iterable
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, Self, cast

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from agent.execution.secret_store import VARIABLE_PREFIX as SECRET
from domain.errors import UsageError
from wiring import secret_files
from wiring.server_settings import ServerSettings

_COMMAND_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class McpCommand(BaseModel):
    """Command that starts an MCP server."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    command: tuple[str, ...]
    """Its words, or a line that is split into words; no shell ever reads it."""
    environment: tuple[str, ...] = ()
    """Names of this process's variables that it may see."""
    keys: tuple[str, ...] = ()
    """Variables that carry the keys of the caller."""
    folder: str | None = None
    """Folder in which it is started."""
    memory: Annotated[int, Field(ge=16, le=1_048_576)] = 2048
    """MiB of data that each of its processes may take."""
    cpu: Annotated[int, Field(ge=1, le=1_000_000)] = 3600
    """Seconds of processor time that each of its processes may take."""
    file: Annotated[int, Field(ge=0, le=1_048_576)] = 1024
    """MiB that one written file may have."""

    @model_validator(mode="before")
    @classmethod
    def _expand_short_form(cls, value: object) -> object:
        short = isinstance(value, str) or type(value) is list
        return {"command": cast(object, value)} if short else cast(object, value)

    @field_validator("command", mode="before")
    @classmethod
    def _split_words(cls, value: object) -> object:
        return shlex.split(value) if isinstance(value, str) else value

    @field_validator("command")
    @classmethod
    def _require_program_path(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not value or not value[0].startswith("/"):
            raise ValueError('a command begins with the whole path of a program, as in "/usr/bin/my-server --quiet"')
        return value

    @field_validator("environment", "keys")
    @classmethod
    def _check_variables(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if wrong := [name for name in value if not _VARIABLE_NAME.fullmatch(name) or name.startswith("FOOTPATH_")]:
            raise ValueError(f"{wrong[0][:100]!r} is no variable that a command may be given")
        return value


def check_command_names(value: dict[str, McpCommand]) -> dict[str, McpCommand]:
    """Check that every name can be part of an address, as in ``stdio:NAME``, and return the commands."""
    if wrong := [name for name in value if not _COMMAND_NAME.fullmatch(name)]:
        raise ValueError(f"{wrong[0][:100]!r} is no name of a command: 1 to 64 of a-z, 0-9, '.', '_', '-'")
    return value


EXAMPLE_PASSWORDS = frozenset(
    {"neo4j", "password", "passw0rd", "changeme", "change-me", "change_me", "example", "secret", "test", "footpath"}
    | {"admin", "letmein", "12345678", "your-password", "your_password", "api-key", "your-api-key", "qdrant"}
)
"""Passwords of examples, this project's and others', which are the first that an attacker tries."""


_HTTP_DESCRIPTION = (
    "must be an address such as http://host:8080/v1: with http:// or https:// in front, without a user, a ? or a #"
)
_PATTERN_DESCRIPTIONS = {
    "graph_url": "must be an address such as bolt://host:7687 or neo4j+s://host, without a user or a password",
    "vector_url": _HTTP_DESCRIPTION.replace("8080/v1", "6333"),
    "model_url": _HTTP_DESCRIPTION,
    "embedding_url": _HTTP_DESCRIPTION,
    "vector_collection": "must be 1 to 100 letters, digits, _ or -",
}
"""Descriptions of these settings' patterns."""


class Settings(ServerSettings, BaseSettings):
    """Settings of a process.

    The defaults work on one machine with nothing installed; ``.env.example`` lists all names.
    """

    model_config = SettingsConfigDict(
        env_prefix="FOOTPATH_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
    )

    environment: Literal["development", "production"] = Field(
        default="development", description="production refuses passwords that stand in examples."
    )
    store: Path = Field(default=Path(".footpath/store"), description="Folder of the embedded store.")

    graph_url: str = Field(
        default="",
        pattern=r"^$|^(bolt|neo4j)(\+s|\+ssc)?://[^@\s]+$",
        description="Neo4j's address, bolt:// or neo4j://; empty: the graph lies in the embedded store.",
    )
    graph_user: str = Field(default="neo4j", description="Neo4j account that may read and write.")
    graph_password: SecretStr = Field(default=SecretStr(""), description="Password of that Neo4j account.")
    graph_database: str = Field(default="neo4j", min_length=1, description="Neo4j database that holds the graph.")

    vector_url: str = Field(
        default="",
        pattern=r"^$|^https?://[^@\s/?#]+(/[^@\s?#]*)?$",
        description="Qdrant's address, http:// or https://; empty: the vectors lie in the embedded store.",
    )
    vector_api_key: SecretStr = Field(default=SecretStr(""), description="API key of that Qdrant server.")
    vector_collection: str = Field(
        default="footpath", pattern=r"^[A-Za-z0-9_-]{1,100}$", description="What its collections' names begin with."
    )
    vector_grpc: bool = Field(default=False, description="Speak gRPC to it, which is faster for bulk.")
    vector_grpc_port: int = Field(
        default=0,
        ge=0,
        le=65_535,
        description="Its gRPC port; 0: 6334, or where the address names a port other than 6333, 80 and 443, the next one.",
    )
    vector_quantization: bool = Field(
        default=False, description="Keep 8-bit copies and search approximately, for millions of tools."
    )

    candidates: int = Field(default=10, ge=1, le=100, description="How many candidates a node offers (K).")
    similarity_floor: float = Field(
        default=0.25, ge=0, le=1, description="Relevance below which the retriever adds no candidate."
    )
    several_steps: bool = Field(
        default=True, description="A language model may name several steps of a path in one decision."
    )
    today: date | None = Field(
        default=None, description="The day that programs are told it is; by default that on which a run begins."
    )
    file_bytes: int = Field(
        default=1_048_576, ge=1, le=1_048_576, description="Bytes that a file given with a question may have."
    )
    file_rows: int = Field(
        default=20_000, ge=1, le=100_000, description="Rows of a table, or items of a list, that such a file may have."
    )
    files: int = Field(default=5, ge=1, le=20, description="Files that a question may have.")
    phrase: bool = Field(
        default=False, description="What a program answers is said anew by the language model, in one small call more."
    )
    weights: Literal["living", "thesis"] = Field(
        default="living", description="How evidence becomes weights: living, or by the formulas of the thesis."
    )
    alpha: float = Field(default=1.0, gt=0, le=10, description="Slope of the score map f.")
    half_life: float = Field(
        default=7.0, gt=0, le=3650, description="Days of silence after which what speaks against a tool counts half."
    )
    beta: float = Field(
        default=0.5, ge=0, le=1, description="Thesis: the share of the imported weights, once anything is live."
    )
    gamma: float = Field(
        default=0.8, gt=0, le=1, description="Thesis: what is left of a sum of scores with each that is added; 1: all."
    )

    max_decisions: int = Field(default=60, ge=1, description="Decisions a run may take.")
    max_depth: int = Field(default=8, ge=1, le=50, description="Longest path.")
    max_seconds: float = Field(default=120.0, gt=0, description="Wall time a run may take, in seconds.")
    planning_seconds: float = Field(
        default=5.0,
        gt=0,
        le=600,
        description="Processor time that rules may take to write a run's programs, in seconds.",
    )
    max_reflections: int = Field(default=3, ge=0, description="How often a run may walk anew after judging its path.")
    max_changes: int = Field(
        default=10, ge=0, description="Calls that may change something and that a run may send, whatever was approved."
    )
    subtasks_at_once: int = Field(
        default=3, ge=1, le=16, description="Independent subtasks of a run that are done side by side."
    )

    offer_tokens: int = Field(
        default=1000,
        ge=200,
        le=100_000,
        description="Tokens that the functions may take in the prompt of a program's author.",
    )
    program_form: Literal["auto", "code", "grammar"] = Field(
        default="auto",
        description="What models write programs in: Python, or the grammar; auto: what check_model.py found out, else Python.",
    )
    program_seconds: float = Field(
        default=5.0, gt=0, le=600, description="Seconds a program may compute; waiting for its calls does not count."
    )
    program_memory: int = Field(
        default=128_000_000, ge=1_000_000, description="Bytes that all values of a program may take."
    )
    program_workers: int = Field(
        default=4, ge=1, le=64, description="Processes that run programs; one that waits for its calls needs none."
    )
    program_calls: int = Field(
        default=500, ge=1, le=100_000, description="Calls that a program may make, all of its cells together."
    )

    call_timeout: float = Field(default=20.0, gt=0, description="Seconds one call may take, all in all.")
    response_limit: int = Field(default=1_048_576, ge=1_024, description="Bytes of a response that are read.")
    call_attempts: int = Field(default=3, ge=1, le=10, description="Attempts of a call that is safe to repeat.")
    host_concurrency: int = Field(default=4, ge=1, le=100, description="Calls to one host at the same time.")
    host_rate: float | None = Field(default=None, gt=0, description="Calls to one host a second; empty: no limit.")
    host_pause: float = Field(default=300.0, ge=0, description="Seconds that a host may pause its calls for, at most.")
    replay_floor: float = Field(
        default=0.3, ge=0, le=1, description="Similarity below which a recorded call answers for no other."
    )
    allow_hosts: Annotated[frozenset[str], NoDecode] = Field(
        default=frozenset(), description="host:port pairs exempt from the address guard, comma-separated."
    )
    flows: Literal["ask", "allow"] = Field(
        default="ask",
        description="Values of one host's answers that go to another host: ask the user first (a command does not send them), or allow.",
    )

    mcp_commands: dict[str, McpCommand] = Field(
        default_factory=dict[str, McpCommand],
        description="MCP servers that authors may have started, as JSON: a command line by its name (docs/mcp.md).",
    )
    mcp_sessions: int = Field(
        default=64, ge=1, le=10_000, description="Sessions with MCP servers that are open at the same time."
    )

    learn: bool = Field(default=True, description="Learn from every run that makes calls, but from replayed ones.")
    owner: str = Field(
        default="", max_length=200, description="Whose memories runs read and keep; empty: those that all share."
    )

    evaluation_at_once: int = Field(
        default=4, ge=1, le=64, description="Requests that an evaluation of answers runs at a time."
    )

    model_url: str = Field(
        default="",
        pattern=r"^$|^https?://[^@\s/?#]+(/[^@\s?#]*)?$",
        description="Address of an OpenAI-compatible endpoint, which mostly ends in /v1; empty: no language model.",
    )
    model_name: str = Field(default="", max_length=200, description="The model's name, as the endpoint lists it.")
    model_names: str = Field(
        default="",
        max_length=4000,
        description="Further models of that endpoint that a run may choose, comma-separated.",
    )
    model_api_key: SecretStr = Field(default=SecretStr(""), description="API key of that endpoint, if it wants one.")
    model_timeout: float = Field(
        default=60.0, gt=0, description="Seconds one answer may take; of a streamed one, between two pieces."
    )
    model_attempts: int = Field(
        default=3, ge=1, le=10, description="Attempts where the endpoint is busy, fails or is not reached."
    )
    model_temperature: float | None = Field(
        default=0.0, ge=0, le=2, description="Randomness of the model; some endpoints take none, which is found out."
    )
    model_max_tokens: int = Field(default=1_024, ge=64, description="Tokens of one answer, thoughts included.")
    model_structured: Literal["auto", "json_schema", "json_object", "text"] = Field(
        default="auto", description="How answers are kept in form; auto: by schema, less where it is refused."
    )
    policy: Literal["llm", "offline"] = Field(
        default="llm",
        description="Who decides where the page's user chooses nobody: llm, where there is one, or offline.",
    )
    model_use_environment: bool = Field(
        default=False,
        description="Use proxies and certificates that HTTPS_PROXY and SSL_CERT_FILE name for it, and for embeddings.",
    )
    max_model_calls: int = Field(default=64, ge=1, description="Calls of the language model a run may make.")
    max_tokens: int = Field(default=200_000, ge=1, description="Tokens of the language model a run may use.")

    model_price_prompt: float | None = Field(
        default=None, ge=0, description="What a million tokens given to the model cost; empty: no costs are told."
    )
    model_price_completion: float | None = Field(
        default=None, ge=0, description="What a million tokens of its answers cost; empty: no costs are told."
    )

    rerank: bool = Field(default=True, description="Put found tools in the order that was learnt from trajectories.")
    reranker_file: Path | None = Field(
        default=None, description="Re-ranker of your own encoder, from train_reranker.py; empty: the bundled one."
    )
    encoder_threads: int = Field(default=2, ge=1, le=64, description="Threads of the bundled encoder.")
    encoder_folder: Path | None = Field(
        default=None,
        description="Encoder of your own in its place, from train_retriever.py --export or export_encoder.py.",
    )

    encoders: Path = Field(
        default=Path(".footpath/encoders"),
        description="Folder of exported encoders that a store may be changed to, each in a folder of its own.",
    )

    embedder: Literal["bundled", "service"] = Field(
        default="bundled",
        description="The encoder: the one that comes along, or an embedding service (docs/retriever.md).",
    )
    embedding_url: str = Field(
        default="",
        pattern=r"^$|^https?://[^@\s/?#]+(/[^@\s?#]*)?$",
        description="Address of an OpenAI-compatible embedding service, which mostly ends in /v1.",
    )
    embedding_name: str = Field(default="", max_length=200, description="Name of its model.")
    embedding_api_key: SecretStr = Field(default=SecretStr(""), description="API key of that service, if it wants one.")
    embedding_dimension: int | None = Field(
        default=None, ge=1, le=16_384, description="Numbers in one of its vectors; check_model.py --embedding tells."
    )
    embedding_shorten: bool = Field(
        default=False, description="Ask it for vectors of that dimension, where its model's own are longer."
    )
    embedding_query_prefix: str = Field(
        default="", max_length=1_000, description="What its model wants before a request, a space at its end included."
    )
    embedding_document_prefix: str = Field(
        default="", max_length=1_000, description="What its model wants before a tool's text."
    )
    embedding_batch: int = Field(default=64, ge=1, le=2_048, description="Texts sent to it at a time.")
    embedding_timeout: float = Field(default=60.0, gt=0, description="Seconds one of its answers may take.")
    embedding_attempts: int = Field(
        default=3, ge=1, le=10, description="Attempts where the service is busy, fails or is not reached."
    )

    @field_validator("allow_hosts", mode="before")
    @classmethod
    def _split_hosts(cls, value: object) -> object:
        if isinstance(value, str):
            return frozenset(host.strip() for host in value.split(",") if host.strip())
        return value

    @field_validator("mcp_commands")
    @classmethod
    def _check_command_names(cls, value: dict[str, McpCommand]) -> dict[str, McpCommand]:
        return check_command_names(value)

    @model_validator(mode="after")
    def _refuse_examples(self) -> Self:
        if self.environment != "development":
            for name in type(self).model_fields:
                value = getattr(self, name)
                if isinstance(value, SecretStr) and value.get_secret_value().strip().lower() in EXAMPLE_PASSWORDS:
                    raise ValueError(
                        f"FOOTPATH_{name.upper()} is a password that stands in examples: choose another one, or set "
                        "FOOTPATH_ENVIRONMENT=development on a machine of your own"
                    )
        return self


def read_settings(**overrides: object) -> Settings:
    """Read the settings of this process; those in ``overrides`` win over the environment.

    ``UsageError`` names the variables that are wrong, and shows no value.
    """
    try:
        folder = secret_files.FOLDER if secret_files.FOLDER.is_dir() else None
        return Settings(_secrets_dir=folder, **overrides)  # pyright: ignore[reportArgumentType, reportCallIssue]  # validated there
    except ValidationError as error:
        messages: list[str] = []
        for problem in error.errors(include_url=False, include_input=False):
            names = [f"FOOTPATH_{str(part).upper()}" for part in problem["loc"][:1]]
            message = problem["msg"].removeprefix("Value error, ")
            if problem["type"] == "string_pattern_mismatch":
                message = _PATTERN_DESCRIPTIONS.get(str(problem["loc"][0]), message)
            messages.append(": ".join([*names, message]))
        raise UsageError(f"the settings cannot be used. {'; '.join(messages)}") from error


def read_settings_file(file: Path) -> dict[str, str]:
    """Return the settings of a file like ``.env``, by field name, not validated; empty ones are left out.

    ``UsageError`` where it is no file.
    """
    if not file.is_file():
        raise UsageError(f"{file} is no file; name a file of settings, a line each, as in .env.example")
    return {name.removeprefix("FOOTPATH_").lower(): value for name, value in dotenv_values(file).items() if value}


def list_model_names(settings: Settings) -> tuple[str, ...]:
    """Return the models that a run may choose, the default first; empty where there is no endpoint."""
    names = [settings.model_name, *settings.model_names.split(",")]
    return tuple(dict.fromkeys(name.strip() for name in names if name.strip())) if settings.model_url else ()


_PREFIX = "FOOTPATH_"
PAGE_SETTINGS = {"FOOTPATH_SERVER_ADDRESS", "FOOTPATH_PAGE_PROXIES"}
"""Variables that only the page reads; where it runs beside the server, both have them in their environment."""
_VARIABLE_LINE = re.compile(rf"\s*(?:export\s+)?({_PREFIX}\w+)\s*=", re.IGNORECASE)


def find_unknown_settings(names: Iterable[str]) -> list[str]:
    """Return a warning for each variable with the project's prefix that is neither a setting nor a secret.

    The warning names the most similar setting.
    """
    known_names = [f"{_PREFIX}{name.upper()}" for name in Settings.model_fields]
    warnings: list[str] = []
    for name in sorted({name.upper() for name in names}):
        if not name.startswith(_PREFIX) or name.startswith(SECRET) or name in PAGE_SETTINGS or name in known_names:
            continue
        similar_names = get_close_matches(name, [*known_names, SECRET + "NAME"], n=1, cutoff=0.75)
        hint = f"; is {similar_names[0]} meant?" if similar_names else "; .env.example lists the settings"
        warnings.append(f"{name} is no setting and is ignored{hint}")
    return warnings


def warn_of_unknown_settings(names: Iterable[str]) -> None:
    """Print the warnings of :func:`find_unknown_settings` on stderr."""
    for warning in find_unknown_settings(names):
        print(f"warning: {warning}", file=sys.stderr)


def list_variables(file: Path) -> list[str]:
    """Return the variables that a ``.env`` file sets, as far as it can be read."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    return [hit[1] for line in lines if (hit := _VARIABLE_LINE.match(line))]
