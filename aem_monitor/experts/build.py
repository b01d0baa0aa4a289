"""The configured expert, if there is one."""

from aem_monitor.config.experts import Experts
from aem_monitor.config.secrets import read_secret
from aem_monitor.errors import ConfigError
from aem_monitor.experts.base import Expert


def build_expert(config: Experts) -> Expert | None:
    """Raises ``ConfigError`` for an extra that is not installed, a model or key that is not there."""
    if config.sentence is not None:
        from aem_monitor.experts.sentence import SentenceExpert

        return SentenceExpert(config.sentence.model)
    judge = config.judge
    if judge is None:
        return None
    try:
        from aem_monitor.experts.judge import JudgeSettings, LlmJudge
    except ImportError as error:
        message = f"experts.judge: {error.name} is not installed; pip install 'aem-monitor[judge]'"
        raise ConfigError(message) from error
    key = judge.api_key.get_secret_value() if judge.api_key is not None else None
    if judge.api_key_file is not None:
        key = read_secret(judge.api_key_file, "experts.judge.api_key_file")
    return LlmJudge(
        JudgeSettings(
            url=judge.url,
            model=judge.model,
            api_key=key,
            timeout=judge.timeout,
            attempts=judge.attempts,
            concurrency=judge.concurrency,
            calls_per_hour=judge.calls_per_hour,
            votes=judge.votes,
            sure=judge.sure,
        )
    )
