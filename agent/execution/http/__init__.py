"""Calls over HTTP: building the request, guarding its address, and reading a bounded response."""

from agent.execution.http.executor import HttpExecutor, HttpParameters

__all__ = ["HttpExecutor", "HttpParameters"]
