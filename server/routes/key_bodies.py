"""What is sent where a key is given as it is."""

from pydantic import BaseModel, Field

from server.routes.texts import Host, KeyValue


class ToolKeyBody(BaseModel):
    value: KeyValue
    hosts: list[Host] = Field(
        min_length=1,
        max_length=20,
        description="Where it may be sent: host, host:port (IPv6 in brackets), or http://host to allow it unencrypted.",
        examples=[["api.example.com"]],
    )
