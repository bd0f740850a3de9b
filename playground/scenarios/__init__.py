"""Requests with the searches that answer them: what the sample trajectories are recorded from."""
