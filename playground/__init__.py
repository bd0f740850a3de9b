"""A local API server of small, real, deterministic APIs, its catalogue and its trajectories."""
