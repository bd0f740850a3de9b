"""The policy that asks a language model: prompts, typed answers and their checks."""
