"""What is in deploy/ can be deployed, as far as that shows without a container engine."""
