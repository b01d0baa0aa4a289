"""The files that Grafana provisions data source and dashboards from."""

from pathlib import Path
from typing import Any

import yaml

PROVISIONING = Path(__file__).parents[2] / "grafana" / "provisioning"


def read(name: str) -> Any:
    return yaml.safe_load((PROVISIONING / name / "aem-monitor.yaml").read_text(encoding="utf-8"))


def test_the_data_source_leads_from_exemplars_to_traces() -> None:
    document = read("datasources")
    assert document["apiVersion"] == 1
    (source,) = document["datasources"]
    assert (source["type"], source["access"]) == ("prometheus", "proxy")
    (destination,) = source["jsonData"]["exemplarTraceIdDestinations"]
    # The label that the exemplars of the daemon carry (tests/grafana/test_queries.py looks at them).
    assert destination["name"] == "trace_id"
    # A single $ would be expanded as a variable of the environment, to nothing.
    assert destination["url"].endswith("$${__value.raw}")
    assert "$" not in destination["url"].replace("$${__value.raw}", "")


def test_dashboards_are_read_from_a_folder_and_stay_as_they_are() -> None:
    document = read("dashboards")
    assert document["apiVersion"] == 1
    (provider,) = document["providers"]
    assert provider["type"] == "file"
    assert provider["allowUiUpdates"] is False
    assert provider["options"]["path"].startswith("/")
