"""The keys that services of the playground know: test values, no secrets."""

RATES_PRO = "rates-pro-test-subscription"
COURIER_MAIL = "courier-mail-test-token"

TEST_KEYS: dict[str, tuple[str, str]] = {
    "Rates Pro": ("X-Api-Key", RATES_PRO),
    "Courier Mail": ("Authorization", f"Bearer {COURIER_MAIL}"),
}
"""Header and value by tool set."""
