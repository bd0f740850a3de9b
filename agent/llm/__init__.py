"""The policy that asks a language model: prompts, typed answers, what the model is shown."""
