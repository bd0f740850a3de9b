"""Tests of model services, made before one is kept. One that was just tried as it is now is not tried again."""

import secrets
import time
from collections.abc import Callable
from hashlib import blake2b

from domain.model_service import NewModelService, ServiceTest
from wiring.model_services import try_service
from wiring.settings import Settings

_REMEMBERED = 600.0
"""Seconds for which what worked is taken to work still."""
_MOST = 100


class ServiceTests:
    """Those of one process."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._worked: dict[bytes, tuple[float, ServiceTest]] = {}

    async def test(self, service: NewModelService, key: str) -> ServiceTest:
        """Ask it now; whatever is wrong is in the test."""
        found = await try_service(self._settings, service, key)
        if found.works:
            while len(self._worked) >= _MOST:
                del self._worked[next(iter(self._worked))]
            self._worked[self._digest(service, key)] = self._clock(), found
        return found

    async def test_unless_known(self, service: NewModelService, key: str) -> ServiceTest:
        """The same, or what was found of just this one a short while ago."""
        at, found = self._worked.get(self._digest(service, key), (0.0, None))
        if found is not None and self._clock() - at < _REMEMBERED:
            return found
        return await self.test(service, key)

    def _digest(self, service: NewModelService, key: str) -> bytes:
        """Of all that is asked with; by a secret of this process, so that it tells nothing of the key."""
        asked = service.model_dump_json(exclude={"name", "provider", "online"})
        return blake2b(f"{key}\n{asked}".encode("utf-8", "surrogatepass"), key=self._secret).digest()
