"""What a reply says, and whether it is consistent with and as complete as a reference."""

from aem_monitor.scoring.responses.claims import Claim, claims
from aem_monitor.scoring.responses.facts import facts
from aem_monitor.scoring.responses.judge import ResponseJudgement, family, judge
from aem_monitor.scoring.responses.mentions import mentions
from aem_monitor.scoring.responses.support import other_unit, supports

__all__ = ["Claim", "ResponseJudgement", "claims", "facts", "family", "judge", "mentions", "other_unit", "supports"]
