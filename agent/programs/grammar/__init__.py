"""A small grammar for programs: sentences of named steps, as JSON under a schema, compiled to a program."""
