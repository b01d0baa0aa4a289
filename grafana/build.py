"""Writes the dashboards: ``python -m grafana.build``, and with addresses of your own for the links.

python -m grafana.build --monitor-url https://aem.example.com --runbook-url https://wiki.example.com/aem-monitor
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from grafana import causes, health, latency, overview, releases
from grafana.dashboard import Addresses

DASHBOARDS: Final = (
    overview.DASHBOARD,
    releases.DASHBOARD,
    causes.DASHBOARD,
    latency.DASHBOARD,
    health.DASHBOARD,
)

FOLDER: Final = Path(__file__).parent / "dashboards"

# The default listener of the API, and where the alerting rules lead by default.
DEFAULT: Final = Addresses("http://localhost:21465", "https://docs.example.com/aem-monitor/runbooks")


def files(addresses: Addresses) -> Mapping[str, str]:
    """The text of every dashboard by the name of its file."""
    return {
        f"{dashboard.uid}.json": json.dumps(dashboard.document(addresses), indent=2, ensure_ascii=False) + "\n"
        for dashboard in DASHBOARDS
    }


def main() -> None:
    """Write them."""
    parser = argparse.ArgumentParser(prog="python -m grafana.build", description=__doc__.partition("\n")[0])
    parser.add_argument("--monitor-url", default=DEFAULT.monitor_url, help="of aem-monitor's admin listener")
    parser.add_argument("--runbook-url", default=DEFAULT.runbook_url, help="of the folder of runbooks")
    parser.add_argument("--into", type=Path, default=FOLDER, help="the folder to write to")
    given = parser.parse_args()
    addresses = Addresses(given.monitor_url.rstrip("/"), given.runbook_url.rstrip("/"))
    given.into.mkdir(parents=True, exist_ok=True)
    for name, text in files(addresses).items():
        (given.into / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
