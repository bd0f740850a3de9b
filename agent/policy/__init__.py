"""Who decides: the protocol, the fallback, the circuit breaker."""
