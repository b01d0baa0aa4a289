"""The file that lines are appended to: rotation, faults of the disk, and what others do to it meanwhile."""

import errno
import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from aem_monitor.errors import SinkError
from aem_monitor.sinks.rotating import RotatingFile, Rotation
from tests.smallfiles import files_of_at_most

ROOMY = Rotation(max_bytes=10**6, max_files=5, max_age=3600.0)
NARROW = Rotation(max_bytes=20, max_files=3, max_age=3600.0)


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "verdicts.jsonl"


@pytest.fixture
def file(path: Path, clock: Clock) -> Iterator[RotatingFile]:
    one = RotatingFile(path, ROOMY, clock)
    yield one
    one.close()


def lines(*numbers: int) -> list[bytes]:
    """Lines of ten bytes."""
    return [b"line %04d\n" % number for number in numbers]


def found(path: Path) -> dict[str, bytes]:
    """What is in the files, by what their names add to the path."""
    return {
        one.name.removeprefix(path.name): one.read_bytes()
        for one in sorted(path.parent.iterdir())
        if not one.name.endswith(".lock")
    }


def test_lines_are_appended_also_by_the_next_process(file: RotatingFile, path: Path, clock: Clock) -> None:
    file.append(lines(1, 2))
    file.append(lines(3))
    file.close()
    again = RotatingFile(path, ROOMY, clock)
    again.append(lines(4))
    again.close()
    assert path.read_bytes() == b"".join(lines(1, 2, 3, 4))


def test_all_files_are_readable_by_their_owner_only(path: Path, clock: Clock) -> None:
    file = RotatingFile(path, NARROW, clock)
    file.append(lines(1, 2, 3))
    file.close()
    modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in path.parent.iterdir()}
    assert modes == {"verdicts.jsonl": 0o600, "verdicts.jsonl.1": 0o600, "verdicts.jsonl.lock": 0o600}


def test_a_full_file_makes_place_and_the_oldest_goes(path: Path, clock: Clock) -> None:
    file = RotatingFile(path, NARROW, clock)
    for number in range(1, 10):
        file.append(lines(number))
    file.close()
    assert found(path) == {
        "": b"".join(lines(9)),
        ".1": b"".join(lines(7, 8)),
        ".2": b"".join(lines(5, 6)),
    }


def test_one_batch_may_fill_several_files(path: Path, clock: Clock) -> None:
    file = RotatingFile(path, NARROW, clock)
    file.append(lines(1, 2, 3, 4, 5))
    file.close()
    assert found(path) == {"": b"".join(lines(5)), ".1": b"".join(lines(3, 4)), ".2": b"".join(lines(1, 2))}


def test_a_line_longer_than_a_file_has_one_of_its_own(path: Path, clock: Clock) -> None:
    file = RotatingFile(path, NARROW, clock)
    long = b"x" * 100 + b"\n"
    file.append([*lines(1), long, *lines(2)])
    file.close()
    assert found(path) == {"": b"".join(lines(2)), ".1": long, ".2": b"".join(lines(1))}


def test_an_old_file_makes_place_though_nothing_is_written(file: RotatingFile, path: Path, clock: Clock) -> None:
    file.append(lines(1))
    clock.now += 3599.0
    file.append([])
    assert found(path) == {"": b"".join(lines(1))}
    clock.now += 1.0
    file.append([])
    assert found(path) == {"": b"", ".1": b"".join(lines(1))}
    clock.now += 7200.0
    file.append([])
    assert found(path) == {"": b"", ".1": b"".join(lines(1))}, "an empty file is not old"


def stored(at: float) -> bytes:
    """A line whose verdict was stored then."""
    return json.dumps({"stored_at": at}).encode() + b"\n"


def test_the_age_of_a_file_outlives_the_process(path: Path, clock: Clock) -> None:
    path.write_bytes(stored(clock.now - 3590.0) + stored(clock.now))
    file = RotatingFile(path, ROOMY, clock)
    file.append(lines(1))
    assert list(found(path)) == [""]
    clock.now += 10.0
    file.append(lines(2))
    file.close()
    assert found(path)[""] == b"".join(lines(2))


def test_a_long_queue_of_old_verdicts_does_not_push_files_out_at_each_restart(path: Path, clock: Clock) -> None:
    clock.now = path.parent.stat().st_mtime
    for number in range(5):
        file = RotatingFile(path, ROOMY, clock)
        file.append([stored(clock.now - 86400.0 + number)])
        file.close()
    assert sorted(found(path)) == ["", ".1"]


def test_a_first_line_that_says_no_time_leaves_the_time_of_the_file(path: Path, clock: Clock) -> None:
    path.write_bytes(lines(1)[0])
    clock.now = path.stat().st_mtime + 3599.0
    file = RotatingFile(path, ROOMY, clock)
    file.append([])
    assert list(found(path)) == [""]
    clock.now += 2.0
    file.append([])
    file.close()
    assert sorted(found(path)) == ["", ".1"]


def test_the_rest_of_a_line_that_a_crash_cut_off_is_removed(
    file: RotatingFile, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_bytes(b"".join(lines(1, 2)) + b"x" * 200_000)
    file.append(lines(3))
    assert path.read_bytes() == b"".join(lines(1, 2, 3))
    assert "in the middle of a line" in caplog.text


def test_a_file_that_holds_nothing_but_half_a_line_is_emptied(file: RotatingFile, path: Path) -> None:
    path.write_bytes(b"x" * 70_000)
    file.append(lines(1))
    assert path.read_bytes() == b"".join(lines(1))


def test_files_beyond_a_bound_that_was_lowered_go(path: Path, clock: Clock) -> None:
    for number in range(1, 6):
        path.with_name(f"{path.name}.{number}").write_bytes(lines(number)[0])
    file = RotatingFile(path, NARROW, clock)
    file.append(lines(6, 7, 8))
    file.close()
    assert found(path) == {"": b"".join(lines(8)), ".1": b"".join(lines(6, 7)), ".2": b"".join(lines(1))}


def test_a_rotation_that_a_crash_cut_short_loses_no_file(path: Path, clock: Clock) -> None:
    path.write_bytes(b"".join(lines(5, 6)))
    path.with_name(f"{path.name}.2").write_bytes(lines(1)[0])
    file = RotatingFile(path, NARROW, clock)
    file.append(lines(7))
    file.close()
    assert found(path) == {"": b"".join(lines(7)), ".1": b"".join(lines(5, 6)), ".2": b"".join(lines(1))}


@pytest.mark.parametrize("how", ["moved", "removed"])
def test_a_file_that_others_take_away_is_made_anew(file: RotatingFile, path: Path, how: str) -> None:
    file.append(lines(1))
    if how == "moved":
        path.rename(path.with_name("elsewhere"))
    else:
        path.unlink()
    file.append(lines(2))
    assert path.read_bytes() == b"".join(lines(2))


def test_a_second_process_is_refused_until_the_first_one_is_done(file: RotatingFile, path: Path, clock: Clock) -> None:
    file.append(lines(1))
    second = RotatingFile(path, ROOMY, clock)
    with pytest.raises(SinkError, match="another process") as caught:
        second.append(lines(2))
    assert (caught.value.reason, caught.value.taken) == ("locked", 0)
    file.close()
    second.append(lines(2))
    second.close()
    assert path.read_bytes() == b"".join(lines(1, 2))


@pytest.mark.parametrize(
    ("name", "reason", "message"),
    [("nowhere/verdicts.jsonl", "unavailable", "check that the folder is there"), (".", "unavailable", "could not be")],
)
def test_a_path_that_cannot_be_written_is_reported(
    tmp_path: Path, clock: Clock, name: str, reason: str, message: str
) -> None:
    file = RotatingFile(tmp_path / name, ROOMY, clock)
    with pytest.raises(SinkError, match=message) as caught:
        file.open()
    file.close()
    assert caught.value.reason == reason


def test_what_is_no_file_is_refused_and_left_alone(path: Path, clock: Clock) -> None:
    os.mkfifo(path)
    file = RotatingFile(path, ROOMY, clock)
    with pytest.raises(SinkError, match="is no file"):
        file.open()
    file.close()
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.parametrize(
    "theirs", [b"SQLite format 3\0 and\nmore", b"notes\n", b"no end of a line", b"\0" * 100, b"li"]
)
def test_a_file_of_somebody_else_is_refused_and_left_as_it_is(path: Path, clock: Clock, theirs: bytes) -> None:
    path.write_bytes(theirs)
    file = RotatingFile(path, NARROW, clock, beginning=b"line ")
    if b"line ".startswith(theirs):
        file.append(lines(1))
        assert path.read_bytes() == lines(1)[0], "cut off within its beginning"
    else:
        with pytest.raises(SinkError, match="holds something else than verdicts") as caught:
            file.append(lines(1))
        assert caught.value.reason == "unavailable"
        assert found(path) == {"": theirs}
    file.close()


def test_a_file_of_somebody_else_that_takes_the_place_is_left_as_it_is(path: Path, clock: Clock) -> None:
    file = RotatingFile(path, NARROW, clock, beginning=b"line ")
    file.append(lines(1))
    path.unlink()
    path.write_bytes(b"notes")
    with pytest.raises(SinkError, match="holds something else than verdicts"):
        file.append(lines(2))
    path.unlink()
    file.append(lines(2))
    file.close()
    assert path.read_bytes() == lines(2)[0]


def test_on_a_full_disk_whole_lines_stay_and_are_told(file: RotatingFile, path: Path) -> None:
    with files_of_at_most(25):
        with pytest.raises(SinkError, match="free space") as caught:
            file.append(lines(1, 2, 3, 4))
        assert (caught.value.reason, caught.value.taken) == ("disk_full", 2)
        assert path.read_bytes() == b"".join(lines(1, 2))
        with pytest.raises(SinkError) as caught:
            file.append(lines(3, 4))
        assert caught.value.taken == 0
        assert path.read_bytes() == b"".join(lines(1, 2)), "trying again adds nothing"
    file.append(lines(3, 4))
    assert path.read_bytes() == b"".join(lines(1, 2, 3, 4))


def test_what_could_not_be_flushed_is_not_taken(
    file: RotatingFile, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.append(lines(1))

    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", broken)
        with pytest.raises(SinkError, match="check the disk") as caught:
            file.append(lines(2, 3))
    assert (caught.value.reason, caught.value.taken) == ("io", 0)
    file.append(lines(2, 3))
    assert set(path.read_bytes().splitlines(keepends=True)) == set(lines(1, 2, 3))


def test_every_line_is_flushed_before_it_counts_as_taken(
    path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[int] = []
    real = os.fsync

    def noted(file: int) -> None:
        if stat.S_ISREG(os.fstat(file).st_mode):
            flushed.append(os.fstat(file).st_size)
        real(file)

    monkeypatch.setattr(os, "fsync", noted)
    file = RotatingFile(path, NARROW, clock)
    file.append(lines(1, 2, 3))
    file.close()
    assert flushed == [20, 10]
