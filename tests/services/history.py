"""The past of a Prometheus: what a daemon has counted, as if it had counted it evenly over days, in blocks."""

import json
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.services.prometheus import PrometheusServer, promtool

_COUNTER: Final = re.compile(
    r"^(aem_(?:runs|turns|root_causes|latency_correctness_\w+)_total)(?:\{(.*)\})? (\S+)$", re.MULTILINE
)


def write_history(
    exposition: str, labels: Mapping[str, str], start: float, end: float, step: float, folder: Path
) -> Path:
    """Counters of the agents grow from zero at ``start`` to what ``exposition`` says at ``end`` (Unix seconds).

    ``labels`` are those that a scrape adds. Returns the folder of blocks, below ``folder``.
    """
    added = ",".join(f"{name}={json.dumps(value)}" for name, value in labels.items())
    lines = []
    count = int((end - start) / step)
    for name, own, value in _COUNTER.findall(exposition):
        series = f"{name}{{{added}{',' if own else ''}{own}}}"
        lines += [f"{series} {float(value) * n / count} {start + n * step:.3f}" for n in range(count + 1)]
    assert lines, "nothing was counted"
    source = folder / "history.txt"
    source.write_text("\n".join([*lines, "# EOF", ""]), encoding="utf-8")
    blocks = folder / "blocks"
    _run("tsdb", "create-blocks-from", "openmetrics", str(source), str(blocks))
    return blocks


def record_history(
    rules: Mapping[str, Any], wanted: Callable[[Mapping[str, Any]], bool], start: float, end: float, blocks: Path
) -> None:
    """Add what the ``wanted`` recording rules, which read counters only, would have recorded of the history."""
    groups = []
    for group in rules["groups"]:
        kept: Sequence[Any] = [rule for rule in group["rules"] if wanted(rule)]
        if kept:
            groups.append({**group, "rules": kept})
    source = blocks.parent / "history-rules.yaml"
    source.write_text(json.dumps({"groups": groups}), encoding="utf-8")
    server = PrometheusServer([], blocks=blocks)
    try:
        span = (f"--start={start:.0f}", f"--end={end:.0f}", f"--url={server.url}", f"--output-dir={blocks}")
        _run("tsdb", "create-blocks-from", "rules", *span, "--eval-interval=1s", str(source))
    finally:
        server.close()


def _run(*arguments: str) -> None:
    ran = subprocess.run([promtool(), *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
