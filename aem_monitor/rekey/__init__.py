"""``aem-monitor rekey``: spans keyed by trace, or not at all, published again keyed by conversation.

From the bytes of a message to those of one trace (``split``, ``splitproto``, ``splitjson``), kept (``traces``) until
they name their conversation (``keys``), published (``publisher``) and only then committed (``rekeyer``).
"""
