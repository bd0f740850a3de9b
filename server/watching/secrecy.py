"""Secrets out of what is written down: those of the settings, what looks like one, and those that a request or run has in hand."""

import re
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from urllib.parse import unquote

from pydantic import SecretStr

from agent.execution.redaction import REDACTED, Redactor
from agent.execution.secret_store import VARIABLE_PREFIX
from wiring.settings import Settings

_SHORTEST = 6
"""Characters; without what is shorter, half of the words would go."""
_PATTERNS = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}"), rf"\1 {REDACTED}"),
    (re.compile(r"\bfp[a-z]_[\w-]{20,}"), REDACTED),
    (re.compile(r"(?<=://)[^\s/@]*:[^\s]*@"), f"{REDACTED}@"),
)
_PASSWORD = re.compile(r"://[^:/@]*:(.*)@")
_in_hand: ContextVar[set[str] | None] = ContextVar("secrets_in_hand", default=None)


def begin() -> None:
    """From here on, in this task and those that it begins, what is concealed is concealed until they end."""
    _in_hand.set(set())


def conceal(value: str) -> None:
    """This is a secret: no line that is written while the request or run goes on shows it."""
    if (values := _in_hand.get()) is not None:
        values.add(value)


class Secrecy:
    """``known``: what is secret as long as the process lives."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._known = Redactor(_long_enough(known))

    def clean(self, text: str) -> str:
        """The text without secrets."""
        text = self._known.redact(text)
        if values := _in_hand.get():
            text = Redactor(_long_enough(values)).redact(text)
        for pattern, instead in _PATTERNS:
            text = pattern.sub(instead, text)
        return text


def _long_enough(values: Iterable[str]) -> list[str]:
    return [value for value in values if len(value) >= _SHORTEST]


def secrets_of(settings: Settings, variables: Mapping[str, str]) -> list[str]:
    """All that a process' settings and environment hold back."""
    given = [getattr(settings, name) for name in type(settings).model_fields]
    found = [value.get_secret_value() for value in given if isinstance(value, SecretStr)]
    found += [part.partition(":")[2] for part in settings.vault_keys.get_secret_value().split(",")]
    if address := _PASSWORD.search(settings.database_url.get_secret_value()):
        found += [address[1], unquote(address[1])]
    named = [key for key in variables if key.upper().startswith(VARIABLE_PREFIX) and not key.upper().endswith("_HOSTS")]
    return [value for value in (*found, *(variables[key].strip() for key in named)) if value]
