"""Named secrets: the keys that calls send. A document names one; its value comes from outside and goes to named hosts only.

A document is a stranger's text. Were a name alone enough, a hostile one could name somebody else's key and have it sent to its
own host; so every secret has its hosts, given by whoever gave the value.
"""

from typing import Protocol


class Secrets(Protocol):
    """Where values come from: the environment, a vault."""

    async def has(self, name: str) -> bool:
        """Whether there is a secret of this name, wherever it may be sent."""
        ...

    async def value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        """The value, to be sent to this host; None where there is none.

        Raises ``SecretError`` where it may not be sent there, or not unencrypted; the message says how to allow it.
        """
        ...

    def advice(self, name: str, host: str, port: int) -> str:
        """How a user gives this secret a value for this host, in a sentence without any value."""
        ...
