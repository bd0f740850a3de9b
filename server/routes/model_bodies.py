"""What is sent to set up a model service, and how it is shown."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StringConstraints

from domain.model_service import ModelService, NewModelService, Purpose, ServiceKind, ServiceParameters
from server.models.presets import Preset
from server.routes.texts import KeyValue, Plain, RowId

Provider = Literal["openai", "azure", "deepseek", "dashscope", "ollama", "vllm", "llama.cpp", "other"]
Name = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True), Plain]


def _read(address: str) -> str:
    """The address, where it is one."""
    try:
        parts = urlsplit(address)
        known = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        known = False
    if not known:
        raise ValueError("is no address: give one as https://models.example/v1")
    return address


Address = Annotated[
    str,
    StringConstraints(max_length=500, pattern=r"^https?://[A-Za-z0-9._:\[\]-]+(/[^@\s?#]*)?$", strip_whitespace=True),
    Plain,
    AfterValidator(_read),
]
Price = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class ServiceBody(BaseModel):
    """All of a service. ``key``: null keeps the one that is kept, where the address stays on its host; empty removes it."""

    model_config = ConfigDict(extra="forbid")

    kind: ServiceKind = "chat"
    name: Name = Field(examples=["Large model"])
    provider: Provider = "other"
    address: Address = Field(description="Of an OpenAI-compatible endpoint; it mostly ends in /v1.")
    own_network: bool = Field(
        default=False, description="It is meant to be on this machine or in a network that is not public."
    )
    model: Name = Field(description="The model's name, as the endpoint lists it.")
    key: KeyValue | Literal[""] | None = Field(
        default=None, description="Kept encrypted, sent to the address alone, and never shown."
    )
    parameters: ServiceParameters = ServiceParameters()
    price_prompt: Price | None = Field(default=None, description="Of a million tokens given to it.")
    price_completion: Price | None = Field(default=None, description="Of a million tokens of its answers.")
    online: bool = Field(default=True, description="Whether runs may ask it.")

    def service(self) -> NewModelService:
        """Without its key."""
        return NewModelService.model_validate(
            {name: getattr(self, name) for name in NewModelService.model_fields} | {"address": self.address.rstrip("/")}
        )

    def given_key(self) -> str | None:
        """As it is kept; None: as it was."""
        return self.key.get_secret_value() if isinstance(self.key, SecretStr) else self.key


class TrialBody(ServiceBody):
    """``service_id``: the kept one that this would change; its key is used where none is given."""

    service_id: RowId | None = None


class ChangeBody(ServiceBody):
    version: int = Field(ge=1, description="Of the service that was looked at: a later one is not overwritten.")


class OnlineBody(BaseModel):
    online: bool


class PurposeBody(BaseModel):
    service_id: RowId | None = Field(description="Null: none in particular.")


class ShownService(ModelService):
    """``purposes``: what it is chosen for."""

    purposes: tuple[Purpose, ...]


class ShownPurpose(BaseModel):
    """``service_id``: the chosen one; ``used``: the name of the one that is asked now, empty where there is none."""

    purpose: Purpose
    about: str
    service_id: str | None
    used: str


class SettingsModel(BaseModel):
    """The endpoint that the server's settings name; it is changed there alone."""

    address: str
    models: list[str]
    has_key: bool
    price_prompt: float | None
    price_completion: float | None


class ModelsShown(BaseModel):
    services: list[ShownService]
    purposes: list[ShownPurpose]
    settings: SettingsModel | None = Field(description="Null where the settings name none.")
    presets: list[Preset]
