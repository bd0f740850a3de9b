"""The weighted tool graph as it is explored: tool sets, what is around a tool, what joins two tools. All that is answered is bounded, and says what it left out."""
