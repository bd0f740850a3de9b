"""Runs that the server owns: claimed by a worker, written down event by event, followed by whoever asks."""
