"""Which encoder searches go by, as administrators see and change it."""
