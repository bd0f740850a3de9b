"""A small grammar for programs: sentences of named steps, as JSON under a schema, that compile into the text of a program."""
