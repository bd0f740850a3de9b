"""What is sent and answered where a key is to be obtained."""

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from server.oauth.addresses import LONGEST, checked_endpoint
from server.routes.texts import Host, KeyValue, Plain
from server.storage.key_grants import ClientAuth, GrantTerms
from server.storage.vault import GrantKind, ToolKey


def _empty_or_endpoint(url: str) -> str:
    return checked_endpoint(url) if url else url


Endpoint = Annotated[
    str, StringConstraints(max_length=LONGEST), Plain, AfterValidator(checked_endpoint), Field(examples=["https://id.example.com/token"])
]  # fmt: skip
NoEndpoint = Annotated[str, StringConstraints(max_length=LONGEST), Plain, AfterValidator(_empty_or_endpoint)]
Scope = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[!#-\[\]-~]+$")]
_Word = Annotated[str, StringConstraints(max_length=LONGEST, pattern=r"^[!-~]*$")]


class GrantBody(BaseModel):
    """A client of an authorization server, and what it is to ask for."""

    grant: GrantKind
    authorize_url: NoEndpoint = Field(
        default="", description="Where the user consents; for authorization_code, and the other way has none."
    )
    token_url: Endpoint = Field(description="Where tokens are given: https, or http on this machine.")
    client_id: _Word = Field(default="", description="Empty: this server registers itself at registration_url.")
    client_secret: KeyValue | None = None
    client_auth: ClientAuth | None = Field(
        default=None,
        description="How the client says who it is: HTTP Basic, fields of the form, or none. Without it: basic with a secret, else none.",
    )
    registration_url: NoEndpoint = Field(default="", description="Where clients register themselves (RFC 7591).")
    scopes: list[Scope] = Field(default_factory=list[str], max_length=100)
    resource: _Word = Field(default="", description="What the token is for (RFC 8707); for an MCP server, its address.")
    issuer: _Word = Field(default="", description="The authorization server's name for itself.")
    issuer_told: bool = Field(default=False, description="Whether it names itself in its answers (RFC 9207).")
    hosts: list[Host] = Field(
        min_length=1, max_length=20, description="Where the token may be sent.", examples=[["api.example.com"]]
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.grant == "authorization_code" and not self.authorize_url:
            raise ValueError("authorize_url is missing: with authorization_code the user consents there")
        if not self.client_id and not self.registration_url:
            raise ValueError("client_id is missing, or registration_url to get one")
        if self.client_auth in ("basic", "post") and self.client_secret is None and self.client_id:
            raise ValueError("client_secret is missing: client_auth says that it is sent")
        if self.grant == "client_credentials" and self.client_secret is None and self.client_id:
            raise ValueError("client_secret is missing: with client_credentials it is all that the client has")
        return self

    def terms(self) -> GrantTerms:
        """Of the client that is named."""
        secret = self.client_secret.get_secret_value() if self.client_secret else ""
        return GrantTerms(
            kind=self.grant,
            token_url=self.token_url,
            authorize_url=self.authorize_url,
            client_id=self.client_id,
            client_secret=secret,
            client_auth=self.client_auth or ("basic" if secret else "none"),
            scopes=tuple(self.scopes),
            resource=self.resource,
            issuer=self.issuer,
            issuer_told=self.issuer_told,
        )


class BegunGrant(BaseModel):
    """``key``: kept already; null: once its user has consented."""

    authorize: str | None = Field(description="The address for the user to open; null where nobody has to consent.")
    key: ToolKey | None
    client_id: str


class DiscoveryBody(BaseModel):
    address: Endpoint = Field(description="Of an API, an MCP server or an authorization server.")
