"""Tables for people, on a terminal or in a file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from aem_monitor.controls import visible

_WITHOUT_TERMINAL = 160


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its heading, how it is aligned, and whether its cells may be cut to keep a row on one line."""

    heading: str
    align: Literal["left", "right"] = "left"
    cut: bool = False


def print_table(
    columns: Sequence[Column | str], rows: Iterable[Sequence[object]], stream: TextIO, *, title: str | None = None
) -> None:
    """Write rows under their headings.

    None is shown as ``-``. Cells are shown as they are: no markup, no control characters, since they hold what agents
    and users said. Without a terminal the table is 160 characters wide and without colour.
    """
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        show_edge=False,
    )
    for column in columns:
        described = Column(column) if isinstance(column, str) else column
        table.add_column(
            Text(visible(described.heading)),
            justify=described.align,
            no_wrap=described.cut,
            overflow="ellipsis" if described.cut else "fold",
        )
    for row in rows:
        table.add_row(*(Text(shown(cell)) for cell in row))
    console(stream).print(table)


def shown(cell: object) -> str:
    """A cell's text: floats in short form, None as ``-``, control characters made visible."""
    if cell is None:
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return visible(str(cell))


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """What a reader that has gone means is decided in one place, not here with an exit code of rich's own."""
        raise BrokenPipeError


def console(stream: TextIO) -> Console:
    """A console that writes to ``stream``: plain and of fixed width unless that is a terminal."""
    return _Console(
        file=stream, width=None if stream.isatty() else _WITHOUT_TERMINAL, highlight=False, markup=False, emoji=False
    )
