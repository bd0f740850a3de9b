"""What every program may use besides its tools: fed to a session before its first cell, and known to the checks."""

PRELUDE = "ToolError = RuntimeError\n"
"""Source that the sandbox runs first. A function that is added here is added to ``NAMES`` and ``STUBS`` too."""

NAMES: frozenset[str] = frozenset({"ToolError"})
"""The names that it makes."""

STUBS = "ToolError = RuntimeError\n"
"""Their declarations, for the type check."""
