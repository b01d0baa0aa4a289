"""The demo's recordings and its daemon."""
