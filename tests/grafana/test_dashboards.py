"""What can be said of the dashboards without a Prometheus: the rules of grafana/dashboard-linter, and our own."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from starlette.testclient import TestClient

from aem_monitor.metrics.catalogue import CATALOGUE, Kind
from aem_monitor.store import Store
from aem_monitor.web.admin_app import ReloadResult, admin_app
from grafana import promql
from grafana.build import DEFAULT, FOLDER, files
from grafana.dashboard import Addresses
from grafana.document import document
from grafana.panels import DATASOURCE
from tests.grafana.dashboards import DASHBOARDS, Json, Target, panels, selectors, targets
from tests.store.results import run

ROOT = Path(__file__).parents[2]
TARGETS = [target for uid in DASHBOARDS for target in targets(uid)]

# Units of Grafana's list (value formats) that the panels may have.
UNITS = {"none", "short", "percentunit", "s", "bytes", "Bps", "cps", "reqps"}

WITH_BUCKETS_ALONE = {
    "Run latency": "a heat map takes the buckets themselves",
    "Run success rate by latency": "its bars are differences of neighbouring buckets",
}

each_dashboard = pytest.mark.parametrize("uid", list(DASHBOARDS))
each_target = pytest.mark.parametrize("target", TARGETS, ids=str)


def variables(uid: str) -> dict[str, Json]:
    return {variable["name"]: variable for variable in DASHBOARDS[uid]["templating"]["list"]}


def test_there_are_five_and_they_are_committed_as_they_are_built() -> None:
    built = files(DEFAULT)
    assert len(built) == 5
    assert {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()} == built


def test_links_lead_where_one_says() -> None:
    addresses = Addresses("https://aem.example.org", "https://wiki.example.org/aem")
    for name, text in files(addresses).items():
        assert '"https://aem.example.org"' in text, name
        assert '"https://wiki.example.org/aem"' in text, name
        assert DEFAULT.monitor_url not in text, name
        assert DEFAULT.runbook_url not in text, name


# What breaks file provisioning; reported as grafana/grafana#10786 and #11018 (inputs), #46247 (library panels).


@each_dashboard
def test_nothing_breaks_file_provisioning(uid: str) -> None:
    document = DASHBOARDS[uid]
    assert document["uid"] == uid
    assert document["id"] is None
    assert 39 <= document["schemaVersion"] <= 42
    text = json.dumps(document)
    for broken in ("__inputs", "__requires", "${DS_", "libraryPanel"):
        assert broken not in text


@each_dashboard
def test_panels_have_numbers_of_their_own_and_do_not_overlap(uid: str) -> None:
    document = DASHBOARDS[uid]
    numbers = [panel["id"] for panel in document["panels"]]
    assert len(set(numbers)) == len(numbers)
    taken: set[tuple[int, int]] = set()
    for panel in document["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells


# The rules of grafana/dashboard-linter, by their names.


@each_dashboard
def test_template_datasource_rule(uid: str) -> None:
    variable = variables(uid)["datasource"]
    assert (variable["type"], variable["label"], variable["query"]) == ("datasource", "Data source", "prometheus")


@each_dashboard
def test_template_job_and_instance_rules(uid: str) -> None:
    for name, label in (("job", "Job"), ("instance", "Instance")):
        variable = variables(uid)[name]
        assert (variable["type"], variable["label"], variable["allValue"]) == ("query", label, ".+")
        assert variable["multi"]
        assert variable["includeAll"]
        assert variable["datasource"] == DATASOURCE


@each_dashboard
def test_template_label_promql_rule_and_template_on_time_change_reload_rule(uid: str) -> None:
    for name, variable in variables(uid).items():
        if variable["type"] != "query":
            continue
        assert re.fullmatch(r"label_values\(aem_\w+(\{.*\})?, \w+\)|query_result\(.+\)", variable["query"]), name
        assert variable["refresh"] == 2, name
        assert names_of(variable["query"]) <= CATALOGUE.keys(), name


@each_dashboard
def test_template_uneditable_rule(uid: str) -> None:
    assert DASHBOARDS[uid]["editable"] is False


@each_dashboard
def test_panel_datasource_rule(uid: str) -> None:
    for panel in panels(uid):
        assert panel["datasource"] == DATASOURCE
        assert all(target["datasource"] == DATASOURCE for target in panel["targets"])


@each_dashboard
def test_panel_title_description_rule(uid: str) -> None:
    titles = [panel["title"] for panel in panels(uid)]
    assert all(titles)
    assert len(set(titles)) == len(titles)
    assert all(panel["description"].endswith(".") for panel in panels(uid))


@each_dashboard
def test_panel_units_rule(uid: str) -> None:
    for panel in panels(uid):
        if panel["type"] == "heatmap":
            assert panel["options"]["yAxis"]["unit"] in UNITS
            continue
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS, panel["title"]
        for override in panel["fieldConfig"]["overrides"]:
            assert all(one["value"] in UNITS for one in override["properties"] if one["id"] == "unit")


@each_dashboard
def test_panel_no_targets_rule(uid: str) -> None:
    assert all(panel["targets"] for panel in panels(uid))


def windows(expression: str) -> Iterator[tuple[str, str, str]]:
    """Function, metric and window of every range selector."""
    found = re.findall(r"(\w+)\((aem_\w+)\{[^}]*\}\[([^\]]+)\]", expression)
    assert len(found) == expression.count("["), expression
    yield from found


@each_target
def test_target_rate_interval_rule(target: Target) -> None:
    for function, _, window in windows(without_brackets(target.expression)):
        assert function in {"rate", "increase"}
        assert window in {"$__rate_interval", "$__range", "$window"}
        assert function != "rate" or window == "$__rate_interval"


def without_brackets(expression: str) -> str:
    """The same without the classes of characters in its matchers."""
    return re.sub(r'"[^"]*"', '""', expression)


@each_target
def test_target_counter_agg_rule(target: Target) -> None:
    expression = without_brackets(target.expression)
    counted = [name for name, _ in selectors(expression) if name.endswith(("_total", "_bucket", "_sum", "_count"))]
    assert counted == [name for _, name, _ in windows(expression)]


@each_target
def test_target_job_and_instance_rules(target: Target) -> None:
    found = selectors(target.expression)
    assert found
    for name, matchers in found:
        assert 'job=~"$job"' in matchers, name
        assert 'instance=~"$instance"' in matchers, name


@each_target
def test_target_histogram_rule(target: Target) -> None:
    buckets = target.expression.count("_bucket{")
    if target.panel in WITH_BUCKETS_ALONE:
        assert buckets
    else:
        assert buckets == len(
            re.findall(r"histogram_quantile\([\d.]+, sum by \(le[^)]*\) \(increase\(aem", target.expression)
        )


# Our own.


def names_of(expression: str) -> set[str]:
    """Everything in it that could be a metric of ours, also without matchers."""
    return set(re.findall(r"\baem_\w+", without_brackets(expression)))


@each_target
def test_every_metric_is_in_the_catalogue(target: Target) -> None:
    families = {name for name, metric in CATALOGUE.items() if metric.kind is Kind.HISTOGRAM}
    parts = {f"{name}_{part}" for name in families for part in ("bucket", "sum", "count")}
    assert names_of(target.expression) <= (CATALOGUE.keys() - families) | parts
    assert names_of(target.expression) == target.metrics


@each_target
def test_every_variable_is_one_of_the_dashboard(target: Target) -> None:
    used = set(re.findall(r"\$(\w+)", target.expression))
    assert used <= {*variables(target.dashboard), "__range", "__rate_interval"}


@each_dashboard
def test_annotations_ask_for_metrics_of_the_catalogue(uid: str) -> None:
    for one in DASHBOARDS[uid]["annotations"]["list"][1:]:
        assert one["datasource"] == DATASOURCE
        assert names_of(one["expr"]) <= CATALOGUE.keys()


@each_dashboard
def test_every_variable_is_used(uid: str) -> None:
    text = json.dumps([DASHBOARDS[uid]["panels"], DASHBOARDS[uid]["links"]])
    for name in variables(uid):
        assert re.search(rf"\$\{{?{name}\b", text), name


@each_dashboard
def test_runbooks_exist(uid: str) -> None:
    pages = re.findall(r"\$\{runbook_url:raw\}/([\w-]+\.md)", json.dumps(DASHBOARDS[uid]))
    assert pages
    for page in pages:
        assert (ROOT / "deploy" / "docs" / "runbooks" / page).exists()


@each_dashboard
def test_links_lead_to_pages_that_there_are(uid: str) -> None:
    found = set(re.findall(r"\$\{monitor_url:raw\}(/[^\"\s]+)", json.dumps(DASHBOARDS[uid])))
    assert found
    with Store("sqlite://") as store:
        store.record_final(run("r", dialog="a b", release="a b", test_pass=False), [], 100.0)
        app = admin_app(store, lambda: ReloadResult(True, ""))
        with TestClient(app, headers={"Accept": "text/html"}) as http:
            for link in found:
                address = re.sub(r"\$\{[\w.]+:percentencode\}", "a%20b", link)
                assert "$" not in address
                answer = http.get(address)
                assert answer.status_code == 200, address
                if address.startswith("/runs"):
                    assert 'href="/runs/r"' in answer.text


@pytest.mark.parametrize(
    ("name", "labels", "said"),
    [
        ("aem_turn_total", {}, "aem_turn_total is not in the catalogue"),
        ("aem_turns_total", {"dialog": "x"}, "aem_turns_total has no label dialog"),
        ("aem_turns_count", {}, "aem_turns_count is not in the catalogue"),
        ("aem_run_latency_seconds_sum", {"le": "1"}, "aem_run_latency_seconds_sum has no label le"),
    ],
)
def test_a_query_of_what_does_not_exist_is_not_built(name: str, labels: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        promql.series(name, **labels)


def test_the_page_is_what_the_dashboards_say() -> None:
    page = ROOT / "deploy" / "docs" / "dashboards.md"
    assert page.read_text(encoding="utf-8") == document()


def test_alerts_lead_to_dashboards_and_set_variables_of_theirs() -> None:
    rules = yaml.safe_load((ROOT / "deploy" / "prometheus" / "aem-monitor.alerts.yaml").read_text(encoding="utf-8"))
    addresses = [
        rule["annotations"]["dashboard_url"]
        for group in rules["groups"]
        for rule in group["rules"]
        if "dashboard_url" in rule.get("annotations", {})
    ]
    assert addresses
    for address in addresses:
        uid = re.search(r"/d/([\w-]+)", address)
        assert uid is not None
        assert uid[1] in DASHBOARDS, address
        assert set(re.findall(r"[?&]var-(\w+)=", address)) <= variables(uid[1]).keys(), address
