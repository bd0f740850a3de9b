"""The versions of the servers that Footpath is deployed with: the Compose file is the one place that names them."""

import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

COMPOSE = Path(__file__).resolve().parents[2] / "docker-compose.yml"


def deployed_version(service: str) -> str:
    """Return the version in the tag of a service's image, as the server itself tells it (``1.18.3``)."""
    found: dict[str, Any] = YAML(typ="safe").load(COMPOSE)  # pyright: ignore[reportUnknownMemberType]
    tag = re.search(r":v?(\d+(?:\.\d+)+)", found["services"][service]["image"])
    assert tag, f"the image of {service} names no version"
    return tag[1]
