"""Tables and progress bars."""

import io
import re

from aem_monitor.cli.progress import LONG, progress_bar
from aem_monitor.cli.tables import Column, print_table, shown


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_table_has_headings_and_a_row_a_line() -> None:
    stream = io.StringIO()
    print_table(["release", Column("turns", "right")], [["1.0.0", 12], ["2.0.0", None]], stream, title="Releases")
    lines = [line.rstrip() for line in stream.getvalue().splitlines() if line.strip()]
    assert lines[0] == "Releases"
    assert lines[1].split() == ["release", "turns"]
    assert [line.split() for line in lines[3:]] == [["1.0.0", "12"], ["2.0.0", "-"]]


def test_cells_are_shown_as_they_are_without_markup_or_control_characters() -> None:
    stream = io.StringIO()
    print_table(["said"], [["[red]hello[/red] :smile: \x1b[31mboo"]], stream)
    assert "[red]hello[/red] :smile: \\x1b[31mboo" in stream.getvalue()
    assert "\x1b" not in stream.getvalue()


def test_a_column_that_may_be_cut_keeps_a_row_on_one_line() -> None:
    stream = io.StringIO()
    print_table([Column("got", cut=True)], [["x" * 1000]], stream)
    assert len([line for line in stream.getvalue().splitlines() if "x" in line]) == 1
    assert "…" in stream.getvalue()


def test_values_are_shown_in_short_form() -> None:
    assert [shown(cell) for cell in (None, True, 0.333333, 5, "a")] == ["-", "yes", "0.3333", "5", "a"]


def test_progress_is_silent_without_a_terminal() -> None:
    stream = io.StringIO()
    with progress_bar("reading", stream) as report:
        report(1, LONG)
    assert stream.getvalue() == ""


def test_progress_in_things_says_what_is_counted() -> None:
    stream = Terminal()
    with progress_bar("waiting", stream, least=0, unit="conversations") as report:
        report(3, 16)
    assert " 3/16 conversations" in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())


def test_progress_is_silent_for_short_inputs() -> None:
    stream = Terminal()
    with progress_bar("reading", stream) as report:
        report(1, LONG - 1)
    assert stream.getvalue() == ""


def test_progress_of_long_inputs_is_drawn() -> None:
    stream = Terminal()
    with progress_bar("reading", stream) as report:
        report(LONG // 2, LONG)
        report(LONG, LONG)
    assert "reading" in stream.getvalue()
