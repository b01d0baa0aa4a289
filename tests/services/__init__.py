"""Real services for the tests: Apache Kafka and Prometheus, on loopback, in temporary folders.

Nothing here is a stand-in: the broker is the one that production runs, started from its published artifacts, and the
Prometheus is Debian's. ``tests/conftest.py`` makes them session fixtures; a test that needs one carries the marker
``service`` and is skipped, with the reason, where the service cannot be had.
"""
