"""The calibration file: what ``calibrate`` writes and the daemon reads."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aem_monitor.calibration.sweep import Calibration
from aem_monitor.errors import ConfigError


class CalibratedThreshold(BaseModel):
    """The threshold of one sub-metric and what it rests on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(ge=0.0, le=1.01)
    labels: int = Field(ge=1)
    agreement: float | None
    constant: float


class CalibrationFile(BaseModel):
    """Thresholds by sub-metric."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["aem-monitor-calibration/1"] = "aem-monitor-calibration/1"
    submetrics: dict[str, CalibratedThreshold]

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold of each sub-metric."""
        return {name: one.threshold for name, one in self.submetrics.items()}


def calibration_file(calibrations: list[Calibration]) -> CalibrationFile:
    """The file's content."""
    return CalibrationFile(
        submetrics={
            one.submetric: CalibratedThreshold(
                threshold=one.threshold, labels=one.labels, agreement=one.agreement.value, constant=one.constant
            )
            for one in calibrations
        }
    )


def read_calibration(path: Path, key: str) -> CalibrationFile:
    """Raises ``ConfigError`` that names ``key`` and the file."""
    try:
        return CalibrationFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(f"{key}: {path} cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{key}: {path}: {where}: {first['msg']}; write it with `aem-monitor calibrate`") from error
