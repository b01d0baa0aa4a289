"""``aem-monitor calibrate``: how far scores agree with people, and which threshold to use."""

import sys
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path

from aem_monitor.calibration.file import calibration_file
from aem_monitor.calibration.labels import Row, read_labels, score_labels
from aem_monitor.calibration.plot import plot
from aem_monitor.calibration.statistics import Interval
from aem_monitor.calibration.sweep import Calibration, Costs, calibrate
from aem_monitor.cli.output import write_json
from aem_monitor.cli.tables import Column, print_table
from aem_monitor.errors import UsageError
from aem_monitor.scoring.scorers import EmbeddedScorer
from aem_monitor.store.store import Store


def configure(parser: ArgumentParser) -> None:
    """Add the arguments."""
    parser.description = (
        "Compares scores with human labels (JSON lines: pairs of values, replies beside references, scores, or stored "
        "turns) and prints, for every sub-metric, the threshold that costs least, precision, recall, correlation and "
        "agreement beside the agreement of a constant answer."
    )
    parser.add_argument("files", metavar="LABELS", nargs="+", type=Path, help="labels, as JSON lines")
    parser.add_argument("--store", metavar="URL", help="database of the stored turns that labels name")
    parser.add_argument("--cost-false-pass", metavar="X", type=float, default=1.0, help="cost of passing what is wrong")
    parser.add_argument("--cost-false-fail", metavar="X", type=float, default=1.0, help="cost of failing what is right")
    parser.add_argument("--json", action="store_true", help="JSON with every point of the sweep, instead of tables")
    parser.add_argument("--plot", metavar="FILE", type=Path, help="draw the sweep into a .png or .svg file")
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="write the calibration file that `run` reads")
    parser.set_defaults(handler=calibrate_command)


def calibrate_command(arguments: Namespace) -> int:
    """Carry the command out."""
    if arguments.cost_false_pass < 0 or arguments.cost_false_fail < 0:
        raise UsageError("costs cannot be negative")
    rows: list[Row] = [row for path in arguments.files for row in read_labels(path)]
    store = Store(arguments.store) if arguments.store else None
    try:
        scored = list(score_labels(rows, EmbeddedScorer(), store))
    finally:
        if store is not None:
            store.close()
    calibrations = calibrate(scored, Costs(arguments.cost_false_pass, arguments.cost_false_fail))
    if arguments.plot is not None:
        plot(calibrations, arguments.plot)
    if arguments.output is not None:
        arguments.output.write_text(calibration_file(calibrations).model_dump_json(indent=2) + "\n", encoding="utf-8")
    if arguments.json:
        write_json([asdict(one) for one in calibrations])
    else:
        _print(calibrations)
    return 0


def _print(calibrations: list[Calibration]) -> None:
    figures = ("labels", "threshold", "agreement", "constant", "kappa", "ROC area", "Pearson", "Spearman")
    print_table(
        ("sub-metric", *(Column(name, "right") for name in figures)),
        [
            (
                one.submetric,
                one.labels,
                one.threshold,
                _interval(one.agreement),
                one.constant,
                _interval(one.kappa),
                _interval(one.roc_area),
                _interval(one.pearson),
                _interval(one.spearman),
            )
            for one in calibrations
        ],
        sys.stdout,
        title="Agreement with labels, 95 % intervals in brackets",
    )
    print_table(
        ("sub-metric", *(Column(name, "right") for name in ("threshold", "precision", "recall", "F1", "balanced"))),
        [
            (one.submetric, point.threshold, point.precision, point.recall, point.f1, point.balanced_accuracy)
            for one in calibrations
            for point in one.points
            if round(point.threshold * 100) % 10 == 0 or point.threshold == one.threshold
        ],
        sys.stdout,
        title="Thresholds",
    )


def _interval(interval: Interval) -> str | None:
    if interval.value is None:
        return None
    if interval.low is None or interval.high is None:
        return f"{interval.value:.3f}"
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
