"""The services of the playground, a router each."""
