"""Kinds of text in requests: bounded, and without what cannot be stored."""

from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr, StringConstraints

from server.routes.hosts import PATTERN, checked_host


def _storable(text: str) -> str:
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds characters that are none: NUL, or half of a surrogate pair")
    return text


def _secret_storable(secret: SecretStr) -> SecretStr:
    _storable(secret.get_secret_value())
    return secret


def _one_line(secret: SecretStr) -> SecretStr:
    """Keys are sent in headers, where a line break would begin another one."""
    if any(ord(character) < 32 or 127 <= ord(character) < 160 for character in secret.get_secret_value()):
        raise ValueError("holds a control character (a line break at its end, perhaps): a key is one line of text")
    return _secret_storable(secret)


Plain = AfterValidator(_storable)

UserName = Annotated[
    str,
    StringConstraints(min_length=2, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9._@+-]*$"),
    Field(description="Letters, digits and . _ @ + -; compared without case.", examples=["ada"]),
]
Password = Annotated[
    SecretStr,
    Field(
        min_length=8,
        max_length=256,
        description="At least 8 characters, and none of the common ones.",
        examples=["correct horse battery"],
    ),
    AfterValidator(_secret_storable),
]
GivenPassword = Annotated[SecretStr, Field(max_length=256), AfterValidator(_secret_storable)]
"""A password to be checked: any that can be, so that a rule that has changed locks nobody out."""
Token = Annotated[SecretStr, Field(max_length=200)]
ShortText = Annotated[str, StringConstraints(max_length=200, strip_whitespace=True), Plain]
ToolKeyName = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9_.-]+$")]
ToolName = Annotated[str, StringConstraints(min_length=1, max_length=500), Plain]
LanguageTag = Annotated[
    str,
    StringConstraints(max_length=35, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*$"),
    Field(description="As BCP 47 writes it.", examples=["zh"]),
]
RowId = Annotated[str, StringConstraints(pattern=r"^[0-9a-f-]{36}$")]
KeyValue = Annotated[SecretStr, Field(min_length=1, max_length=10_000), AfterValidator(_one_line)]
Host = Annotated[
    str, StringConstraints(max_length=270), AfterValidator(checked_host), Field(json_schema_extra={"pattern": PATTERN})
]
