"""Addresses of traces, from a template."""

import pytest

from aem_monitor.links import TraceLink


def test_ids_take_their_places_escaped() -> None:
    link = TraceLink.parse("https://traces.example/t/{trace_id}?span={span_id}")
    assert link.to("0af7", "00f0") == "https://traces.example/t/0af7?span=00f0"
    assert link.to('a/b?c"{span_id}', None) == "https://traces.example/t/a%2Fb%3Fc%22%7Bspan_id%7D?span="
    assert link.to(None, "00f0") is None


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("javascript:alert({trace_id})", "http://"),
        ("https://traces.example/{trace_id} x", "without spaces"),
        ("https://traces.example/{trace}", "names {trace}"),
        ("https://traces.example/{span_id}", "does not name {trace_id}"),
        ("https://{trace_id}.example/", "host of its own"),
        ("https://user:secret@traces.example/{trace_id}", "without credentials"),
        ("https://[traces/{trace_id}", "is no URL"),
    ],
)
def test_a_template_that_makes_no_link_is_refused(template: str, said: str) -> None:
    with pytest.raises(ValueError, match=said.replace("{", r"\{").replace("}", r"\}")):
        TraceLink.parse(template)
