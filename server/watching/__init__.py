"""What the server tells of itself: figures, traces, and a log that holds no secrets."""
