"""Topics of Kafka on the command line."""

from argparse import ArgumentTypeError

from aem_monitor.config.names import topic_name


def topic_argument(text: str) -> str:
    """The name of a topic, for ``type`` of an option: argparse names the option and says what is wrong."""
    try:
        return topic_name(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error
