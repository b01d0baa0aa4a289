"""One module a span convention: each turns a span (and its log records) into the same neutral ``SpanReading``.

``registry`` holds the ordered table and decides per span, never per trace: traces mix instrumentations. Nothing here
merges what several spans say about one thing; that is the work of ``assembly``.
"""
