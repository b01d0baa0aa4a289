"""The values that travel along the pipeline. Frozen, slotted, without behaviour that needs a clock or I/O.

``span`` is what ingest decodes, ``conversation`` what assembly makes of it, ``verdict`` what scoring and attribution
say about it. Every package may import from here; nothing here imports from them.
"""
