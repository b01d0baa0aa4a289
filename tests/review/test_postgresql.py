"""The commands over stored runs do the same on PostgreSQL."""

import json
from pathlib import Path

import pytest

from aem_monitor.cli.main import main
from tests.review.stored import WRONG, Monitor, sales
from tests.services.postgresql import PostgresqlServer

pytestmark = pytest.mark.service


def test_runs_are_judged_again_and_decided(
    tmp_path: Path, postgresql_server: PostgresqlServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with postgresql_server.database() as url:
        outcome = [{"tool_id": "reports", "action": "FilterData", "args": {"region": "EU"}}]
        monitor = Monitor(tmp_path, sales(outcome=outcome), store={"url": url})
        run_id = monitor.play("c-1", WRONG)
        config = ["--config", str(monitor.config)]
        monitor.write(sales(2, outcome=outcome))
        for revisions in (1, 0):
            assert main(["rescore", *config, "--json"]) == 0
            found = capsys.readouterr().out.splitlines()
            assert len(found) == revisions
        assert main(["review", "list", *config, "--format", "json"]) == 0
        (case,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert (case["case"], case["revision"]) == (f"{run_id[:12]}:path", 1)
        assert main(["review", "accept", *config, run_id, "--case", str(tmp_path / "cases")]) == 0
        assert main(["review", "list", *config]) == 0
        assert "nothing is to be decided" in capsys.readouterr().err
