"""What is published to Prometheus: one catalogue, the registry made from it, and what a final run adds to it."""
