"""A picture of a calibration. Needs the extra ``plot``."""

from collections.abc import Sequence
from pathlib import Path

from aem_monitor.calibration.sweep import Calibration
from aem_monitor.errors import UsageError


def plot(calibrations: Sequence[Calibration], path: Path) -> None:
    """Draw precision, recall, F1 and cost over the threshold, one panel a sub-metric, as PNG or SVG by the suffix.

    Raises ``UsageError`` for another suffix, or when matplotlib is not installed.
    """
    if path.suffix not in {".png", ".svg"}:
        raise UsageError(f"--plot {path}: a picture is .png or .svg")
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise UsageError("--plot needs matplotlib: pip install 'aem-monitor[plot]'") from error
    figure = Figure(figsize=(6.4, 3.6 * len(calibrations)), layout="constrained")
    panels = figure.subplots(len(calibrations), 1, squeeze=False)
    for calibration, (axes,) in zip(calibrations, panels, strict=True):
        thresholds = [point.threshold for point in calibration.points]
        for name in ("precision", "recall", "f1", "cost"):
            values = [getattr(point, name) for point in calibration.points]
            axes.plot(thresholds, [float("nan") if value is None else value for value in values], label=name)
        axes.axvline(calibration.threshold, color="black", linestyle=":", label=f"chosen: {calibration.threshold:g}")
        axes.axhline(calibration.constant, color="grey", linewidth=0.8, label="agreement of a constant answer")
        axes.set(title=f"{calibration.submetric} ({calibration.labels} labels)", xlabel="threshold", ylim=(0, 1.02))
        axes.legend(fontsize="small", loc="lower center", ncols=3)
    figure.savefig(path)
