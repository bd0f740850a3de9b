"""A world for each test, copied from one that is made once."""

from tests.server.conftest import home, world

__all__ = ["home", "world"]
