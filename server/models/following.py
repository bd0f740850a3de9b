"""What runs ask follows the rows: read when one begins, so that a change counts from the next run on, whichever server made it."""

import asyncio

from domain.errors import SecretError
from domain.model_service import ModelService
from server.storage.storage import Storage
from wiring.served_models import ServedModels, ServiceWithKey, list_online_models


class ModelFollower:
    """Of one process."""

    def __init__(self, storage: Storage, served: ServedModels) -> None:
        self._storage = storage
        self._served = served
        self._one_at_a_time = asyncio.Lock()

    async def follow(self) -> None:
        """Have the services asked that are on line now. Raises as the rows do."""
        async with self._one_at_a_time:
            of = self._storage.model_services
            services, chosen = await of.list_with_purposes()
            news = [
                await self._with_key(one) for one in list_online_models(services) if not self._served.is_current(one)
            ]
            await self._served.update_models(services, chosen, news)

    async def _with_key(self, service: ModelService) -> ServiceWithKey:
        try:
            return ServiceWithKey(service, await self._storage.model_services.get_key(service.id))
        except SecretError as error:
            return ServiceWithKey(service, None, f"the key of {service.name} cannot be opened: {error}")
