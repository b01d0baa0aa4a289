"""The demo's side of HTTP: an exporter that sends recorded requests, and a scraper that reads the metrics."""

import gzip
import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterable
from typing import Final

from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from aem_monitor.errors import AemMonitorError

_SECONDS: Final = 10.0
_RETRYABLE: Final = (429, 502, 503, 504)
"""The codes that the OTLP specification tells exporters to try again after."""
_ATTEMPTS: Final = 5

# A proxy named in the environment is for the world outside; everything here stays on this machine.
_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def export(url: str, body: bytes) -> None:
    """Send one OTLP JSON export request, compressed, to ``url``. Raises ``AemMonitorError`` when it is refused."""
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    request = urllib.request.Request(url, gzip.compress(body, 1), headers)  # noqa: S310 - http, on loopback
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            with _OPENER.open(request, timeout=_SECONDS) as answer:
                answer.read()
                return
        except urllib.error.HTTPError as error:
            if error.code not in _RETRYABLE or attempt == _ATTEMPTS:
                said = error.read(500).decode(errors="replace")
                raise AemMonitorError(f"{url} answered {error.code}: {said}") from error
        except (OSError, http.client.HTTPException) as error:
            if attempt == _ATTEMPTS:
                raise AemMonitorError(f"cannot reach {url}: {error}") from error
        time.sleep(0.2 * attempt)


def scrape(url: str) -> str:
    """The text of a metrics endpoint, as Prometheus would read it. Raises ``AemMonitorError``."""
    try:
        with _OPENER.open(url, timeout=_SECONDS) as answer:
            text: str = answer.read().decode()
    except (OSError, http.client.HTTPException) as error:
        raise AemMonitorError(f"cannot read {url}: {error}") from error
    return text


def samples(text: str) -> Iterable[Sample]:
    """The samples of a scrape."""
    return (sample for family in text_string_to_metric_families(text) for sample in family.samples)
