"""All that bounds what is asked of a server, put together from its settings."""

from dataclasses import dataclass

from server.bodies import BodyLimits
from server.quotas import Quotas, quotas_of
from server.rates import Rates
from server.served_hosts import Serves, served_hosts
from wiring.settings import Settings


@dataclass(frozen=True, slots=True)
class Limits:
    """One process's. ``quotas`` and ``rates``: of users; ``body_limits``: with bodies; ``serves``: by which names it is asked."""

    quotas: Quotas
    rates: Rates
    body_limits: BodyLimits
    serves: Serves


def limits_of(settings: Settings) -> Limits:
    """Those of the settings. ``UsageError``: they do not go together."""
    return Limits(
        quotas_of(settings),
        Rates(settings.user_requests_per_minute),
        BodyLimits(settings.body_seconds, settings.body_memory),
        served_hosts(settings.hosts),
    )
