"""The policy that needs no model: rules that read English. The core never imports it."""
