"""The one thread that owns all state between bytes and verdicts.

``engine`` is the state machine, driven by ``ingest`` and ``tick`` with the time passed in; ``worker`` is the thread and
the bounded queue around it. The other modules are its parts, one kind of state each.
"""
