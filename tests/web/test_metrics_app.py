"""What the metrics listener answers."""

import gzip
from collections.abc import Sequence

import pytest
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from aem_monitor.metrics.registry import Metrics
from aem_monitor.web.metrics_app import accepts_gzip, metrics_app


def client(*problems: str) -> TestClient:
    registry = CollectorRegistry()
    Metrics(registry)
    return TestClient(metrics_app(registry, lambda: problems))


def test_metrics_are_served_in_the_format_asked_for() -> None:
    with client() as http:
        plain = http.get("/metrics", headers={"Accept": "*/*"})
        assert plain.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        assert "aem_monitor_build_info{" in plain.text
        openmetrics = http.get("/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
        assert openmetrics.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8"
        assert openmetrics.text.endswith("# EOF\n")


def test_metrics_are_compressed_for_those_who_can_read_it() -> None:
    with client() as http:
        packed = http.get("/metrics", headers={"Accept-Encoding": "gzip"})
        assert packed.headers["content-encoding"] == "gzip"
        plain = http.get("/metrics", headers={"Accept-Encoding": "identity"})
        assert "content-encoding" not in plain.headers
        assert packed.text == plain.text


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("gzip;q=0", False),
        ("identity", False),
        ("", False),
        ("x-gzip", False),
    ],
)
def test_gzip_is_used_only_where_it_is_allowed(header: str, accepted: bool) -> None:
    assert accepts_gzip(header) is accepted


def test_the_compressed_body_is_the_same_each_time() -> None:
    assert gzip.compress(b"x", 5, mtime=0) == gzip.compress(b"x", 5, mtime=0)


def test_healthy_whatever_is_not_ready() -> None:
    with client("the store is locked") as http:
        assert http.get("/-/healthy").status_code == 200


def test_ready_when_nothing_stands_in_the_way() -> None:
    with client() as http:
        answer = http.get("/-/ready")
        assert (answer.status_code, answer.text) == (200, "ready\n")


def test_not_ready_says_what_is_not() -> None:
    with client("the engine has not started", "the store is locked") as http:
        answer = http.get("/-/ready")
        assert answer.status_code == 503
        assert answer.text == "not ready\nthe engine has not started\nthe store is locked\n"


def test_readiness_that_cannot_be_told_is_not_ready() -> None:
    def fail() -> Sequence[str]:
        raise RuntimeError("secret")

    registry = CollectorRegistry()
    with TestClient(metrics_app(registry, fail)) as http:
        answer = http.get("/-/ready")
        assert answer.status_code == 503
        assert "could not be determined" in answer.text
        assert "secret" not in answer.text


def test_the_landing_page_links_to_everything() -> None:
    with client() as http:
        page = http.get("/").text
        for path in ("/metrics", "/-/healthy", "/-/ready"):
            assert f'href="{path}"' in page
            assert http.get(path).status_code == 200


@pytest.mark.parametrize("path", ["/", "/metrics", "/-/healthy", "/-/ready"])
def test_only_reading_is_allowed(path: str) -> None:
    with client() as http:
        assert http.head(path).status_code == 200
        for method in ("POST", "PUT", "DELETE"):
            assert http.request(method, path).status_code == 405


@pytest.mark.parametrize("path", ["/-/reload", "/api/v1/runs", "/nothing"])
def test_administration_is_not_here(path: str) -> None:
    with client() as http:
        assert http.get(path).status_code == 404
        assert http.post(path).status_code == 404
