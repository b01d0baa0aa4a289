"""Names of receivers, and what became of notifications, in bounded words."""

from typing import Final

PAGERDUTY: Final = "pagerduty"
ALERTMANAGER: Final = "alertmanager"
WEBHOOK: Final = "webhook"

RECEIVERS: Final = (PAGERDUTY, ALERTMANAGER, WEBHOOK)
"""All receivers: keys of ``alerting.receivers`` in the configuration, values of the label ``receiver``."""

REASONS: Final = ("unreachable", "overloaded", "unauthorized", "refused", "rejected")
"""All reasons of a ``NotifyError``."""

RESULTS: Final = ("sent", "failed", "rejected", "expired")
"""What can become of an attempt: taken; to be tried again; never to be sent again, because the receiver refused it for
good, or because it had waited too long."""

OBSERVED: Final = ("observed", "retention", "corrupt", "defect")
"""What can become of a final run: the detectors were told; it was no longer in the store, or cannot be read; a detector
failed on it."""
