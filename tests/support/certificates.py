"""The certificates that clients of httpx trust, read once for a test process."""

import os
import ssl
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from typing import Any
from unittest.mock import patch

import httpx._transports.default as transports

_FROM_OUTSIDE = ("SSL_CERT_FILE", "SSL_CERT_DIR")


@contextmanager
def certificates_read_once() -> Generator[None]:
    """Clients that ask for nothing of their own share a context; one that names its certificates gets its own, as ever."""
    true = transports.create_ssl_context  # pyright: ignore[reportPrivateImportUsage]

    @cache
    def usual(trust_env: bool, *outside: str | None) -> ssl.SSLContext:
        return true(verify=True, trust_env=trust_env)

    def created(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        if verify is not True or cert is not None:
            return true(verify=verify, cert=cert, trust_env=trust_env)
        return usual(trust_env, *map(os.environ.get, _FROM_OUTSIDE))

    with patch.object(transports, "create_ssl_context", created):
        yield
