"""The decisions of a run: questions, the protocol of policies, the fallback and the circuit breaker."""
