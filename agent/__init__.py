"""The agent: turns a request into a plan, calls, and an answer."""
