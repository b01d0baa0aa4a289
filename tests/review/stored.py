"""A store with final runs in it, as the daemon leaves one, and a configuration that names it."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml
from prometheus_client import CollectorRegistry

from aem_monitor.attribution.steps import ScoringSettings
from aem_monitor.build import PipelineSettings, build_pipeline, build_registry
from aem_monitor.config.root import Config
from aem_monitor.config.settings import keeping
from aem_monitor.engine.recorder import Recorder
from aem_monitor.engine.runs import RunState
from aem_monitor.golden.load import load_dialogs
from aem_monitor.golden.messages import same_user_message
from aem_monitor.golden.play import Run, runs_of
from aem_monitor.metrics.registry import Metrics
from aem_monitor.model.conversation import Exchange
from aem_monitor.store import Store
from tests.playing import SCORER, Call, agent, conversation, exchange, tool, user

ASK = "How much did we sell?"
REPORT = Call("reports.FilterData", {"metric": "revenue", "region": "EU"}, {"total": 1240000})
RIGHT = exchange(ASK, [REPORT], "EU revenue was 1.24 million.")
PROFIT = replace(REPORT, args={"metric": "profit", "region": "EU"}, result={"total": 310000})
WRONG = exchange(ASK, [PROFIT], "EU profit was 310,000.")


def sales(version: int = 1, metric: str = "revenue", **top: Any) -> dict[str, Any]:
    """The golden dialog as a file holds it."""
    turns = [
        user(ASK),
        tool(2, "reports.FilterData", {"metric": metric, "region": "EU"}, result={"total": 1240000}),
        agent(3, None, must_mention=["${2.result.total}"], depends_on=[2]),
    ]
    return {"dialog": "sales", "version": version, "review": {"status": "human"}, **top, "turns": turns}


class Monitor:
    """A folder with ``aem-monitor.yaml``, golden dialogs and a store that the engine writes."""

    def __init__(
        self, folder: Path, *dialogs: dict[str, Any], store: dict[str, Any] | None = None, band: float = 0.08
    ) -> None:
        self.folder = folder
        self.config = folder / "aem-monitor.yaml"
        self.path = folder / "store.db"
        value = {"url": f"sqlite:///{self.path}", "replica": "monitor-0", **(store or {})}
        self._url = str(value["url"])
        document = {"golden": {"paths": ["golden"]}, "store": value, "scoring": {"band": band}}
        self.config.write_text(yaml.safe_dump(document), encoding="utf-8")
        self._scoring = ScoringSettings(band=band)
        self._keeping = keeping(Config.model_validate({"store": value}))
        self.write(*(dialogs or (sales(),)))

    def write(self, *dialogs: dict[str, Any]) -> None:
        """Golden dialogs as files, one each."""
        (self.folder / "golden").mkdir(exist_ok=True)
        for value in dialogs:
            self.golden(value["dialog"]).write_text(yaml.safe_dump(value, sort_keys=False), encoding="utf-8")

    def golden(self, name: str) -> Path:
        return self.folder / "golden" / f"{name}.yaml"

    def open(self) -> Store:
        return Store(self._url, "monitor-0", self._keeping)

    def play(self, name: str, *exchanges: Exchange, dialog: str = "sales", at: float = 1000.0) -> str:
        """A final run in a conversation of its own; returns its id."""
        run = self.run(name, exchanges, dialog)
        dialogs = load_dialogs([self.folder / "golden"])
        pipeline = build_pipeline(dialogs, PipelineSettings(scoring=self._scoring), build_registry(), SCORER)
        with self.open() as store:
            recorder = Recorder(pipeline, store, Metrics(CollectorRegistry()), {"reports"})
            assert recorder.finalise(RunState(run.run_id, at, run), at)
        return run.run_id

    def run(self, name: str, exchanges: Sequence[Exchange], dialog: str = "sales") -> Run:
        found = replace(conversation(*exchanges), key=name, conversation_id=name)
        golden = load_dialogs([self.folder / "golden"]).by_name[dialog]
        (run,) = runs_of(found, golden, same_user_message, 1800 * 10**9)
        return run
