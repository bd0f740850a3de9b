"""Settings of the server, a part of all settings in a module of their own because of their number."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, SecretStr, field_validator

from domain.client_addresses import TrustedProxies


class ServerSettings(BaseModel):
    """Settings that only the server needs."""

    server_home: Path = Field(
        default=Path(".footpath/server"), description="Folder of the server's own files: rows, and the vault's keys."
    )
    database_url: SecretStr = Field(
        default=SecretStr(""),
        description="postgresql+asyncpg://user:password@host/database; empty: SQLite in the home.",
    )
    vault_keys: SecretStr = Field(
        default=SecretStr(""),
        description="Keys of the vault, VERSION:BASE64, comma-separated; empty: a file in the home.",
    )
    registration: Literal["open", "invited", "closed"] = Field(
        default="open", description="Who may make an account: open, invited (with an invitation) or closed."
    )
    access_minutes: float = Field(default=15, gt=0, le=1440, description="Minutes an access token counts.")
    session_days: float = Field(default=30, gt=0, le=365, description="Days after which one has to log in again.")
    invitation_days: float = Field(default=7, gt=0, le=365, description="Days an invitation counts.")
    login_attempts: int = Field(
        default=5, ge=1, le=100, description="Failed log-ins of an account before each further one has to wait longer."
    )
    registrations: int = Field(
        default=20, ge=1, le=100_000, description="Accounts made from one address before each further one has to wait."
    )
    trusted_proxies: str = Field(
        default="127.0.0.1,::1",
        description="Addresses and networks of proxies whose X-Forwarded-For is believed, comma-separated.",
    )
    metrics: Literal["off", "local", "open"] = Field(
        default="local", description="Who may read GET /metrics: nobody (off), this machine (local) or anyone (open)."
    )
    log_format: Literal["text", "json"] = Field(
        default="text", description="Lines of the server's log: text for people, json for programs."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least that the server's log tells."
    )
    otel: Literal["auto", "on", "off"] = Field(
        default="auto", description="Send traces by OTLP: on, off, or where OTEL_EXPORTER_OTLP_ENDPOINT is set (auto)."
    )
    runs_at_once: int = Field(
        default=4, ge=1, le=1000, description="Runs that a server makes at a time, beside those it plans."
    )
    user_runs: int = Field(default=10, ge=1, le=1000, description="Runs of one user that may be under way or queued.")
    user_requests_per_minute: int = Field(
        default=1200, ge=0, description="Requests of one user that a server answers in a minute; 0: any number."
    )
    user_runs_per_day: int = Field(
        default=2000, ge=0, description="Runs that one user may ask for in a day (UTC); 0: any number."
    )
    user_tokens_per_day: int = Field(
        default=5_000_000, ge=0, description="Tokens of language models that one user's runs may take in a day; 0: any."
    )
    user_cost_per_day: float = Field(
        default=0, ge=0, description="What those may cost in a day, at the prices that are set; 0: anything."
    )
    author_sources: int = Field(default=50, ge=1, le=10_000, description="Sources of tools that one author may have.")
    source_tools: int = Field(default=500, ge=1, le=10_000, description="Tools that one source may have.")
    author_checks: int = Field(
        default=3, ge=1, le=1000, description="Sources of one author that the gate may look at at a time."
    )
    checks_at_once: int = Field(
        default=2, ge=1, le=100, description="Sources that the gate of a server looks at at a time."
    )
    source_bytes: int = Field(
        default=33_554_432, ge=1000, le=67_108_864, description="Bytes that a source's document may have."
    )
    upload_bytes: int = Field(
        default=2_000_000_000,
        ge=1_000_000,
        description="Bytes that a file may have which an administrator uploads: to be imported, or a backup.",
    )
    free_bytes: int = Field(
        default=200_000_000, ge=0, description="Free bytes of a disk below which the server says that it is not ready."
    )
    event_days: int = Field(
        default=0, ge=0, description="Days after which the events of runs that have ended are removed; 0: never."
    )
    hosts: str = Field(
        default="localhost",
        max_length=4000,
        description="Names that the server answers to, comma-separated, beside any address; .example.com: all below; *: any.",
    )
    public_address: str = Field(
        default="",
        max_length=500,
        pattern=r"^(https?://[!-~]+)?$",
        description="Where browsers reach the server, for who comes back from a consent: https://host; empty: where it was asked.",
    )
    connections: int = Field(
        default=1000, ge=10, le=100_000, description="Connections to a server that may be open at a time."
    )
    address_connections: int = Field(
        default=200, ge=0, description="Those from one address, but for trusted proxies; 0: any number."
    )
    head_seconds: float = Field(
        default=15, gt=0, le=600, description="Seconds in which the head of a request has to come."
    )
    body_seconds: float = Field(default=30, gt=0, le=600, description="Seconds in which its body has to come.")
    body_memory: int = Field(
        default=64_000_000,
        ge=4_000_000,
        description="Bytes of bodies that may be held while they come, a quarter of them from one address.",
    )
    lease_seconds: float = Field(
        default=15,
        ge=1,
        le=600,
        description="Seconds after which the runs of a server that is not heard of are taken up.",
    )
    outage_seconds: float = Field(
        default=600,
        ge=1,
        le=86_400,
        description="Seconds for which a run that meets a store out of reach is tried again before it fails.",
    )
    heartbeat_seconds: float = Field(
        default=15, ge=0.1, le=600, description="Seconds after which who follows a run is told that it is still there."
    )

    @field_validator("trusted_proxies")
    @classmethod
    def _check_addresses(cls, value: str) -> str:
        try:
            TrustedProxies(value)
        except ValueError as error:
            raise ValueError(
                f"names addresses and networks of proxies, such as 10.0.0.5 or 10.1.0.0/24: {error}"
            ) from error
        return value
