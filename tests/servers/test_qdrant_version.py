"""What the tests run against is what is deployed."""

import httpx

from tests.servers.qdrant.places import QdrantPlace
from tests.support.deployed_versions import deployed_version


def test_the_qdrant_of_the_tests_is_the_one_that_is_deployed(qdrant_server: QdrantPlace) -> None:
    """A newer one is deployed after it has passed these tests, by its tag in ``docker-compose.yml``."""
    told = httpx.get(qdrant_server.url, headers={"api-key": qdrant_server.api_key}, trust_env=False)
    assert told.json()["version"] == deployed_version("qdrant")
