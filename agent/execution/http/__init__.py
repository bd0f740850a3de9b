"""Calls over HTTP: arguments to a request, through the guard, to a bounded response."""

from agent.execution.http.executor import HttpExecutor, HttpParameters

__all__ = ["HttpExecutor", "HttpParameters"]
