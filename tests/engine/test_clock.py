"""Time that passes, whatever the wall clock does."""

from dataclasses import dataclass, field

import pytest

from aem_monitor.engine.clock import SteadyClock


@dataclass
class Machine:
    """A machine whose two clocks a test moves."""

    wall: float = 1_790_000_000.0
    monotonic: float = 500.0
    jumps: list[float] = field(default_factory=list)

    def clock(self) -> SteadyClock:
        return SteadyClock(self.jumps.append, lambda: self.wall, lambda: self.monotonic)

    def wait(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds


def test_it_shows_the_time_and_goes_with_it() -> None:
    machine = Machine()
    clock = machine.clock()
    assert clock() == 1_790_000_000.0
    machine.wait(7)
    assert clock() == 1_790_000_007.0
    assert machine.jumps == []


@pytest.mark.parametrize("jump", [3600.0, -3600.0, 2.0])
def test_a_jump_is_said_once_and_is_no_time_that_passed(jump: float) -> None:
    machine = Machine()
    clock = machine.clock()
    before = clock()
    machine.wall += jump
    machine.wait(1)
    after = clock()
    machine.wait(1)
    clock()
    assert after - before == pytest.approx(1, abs=0.05)
    assert machine.jumps == [pytest.approx(jump)]
    assert clock.on_the_wall(after) == pytest.approx(machine.wall - 1, abs=0.2)


@pytest.mark.parametrize("jump", [60.0, -60.0])
def test_it_comes_back_to_the_wall_clock_without_ever_going_back(jump: float) -> None:
    machine = Machine()
    clock = machine.clock()
    machine.wall += jump
    times = []
    for _ in range(1300):
        machine.wait(1)
        times.append(clock())
    assert times == sorted(times)
    assert times[-1] == pytest.approx(machine.wall, abs=0.01)


def test_a_clock_that_drifts_is_followed_and_is_no_jump() -> None:
    machine = Machine()
    clock = machine.clock()
    for _ in range(1000):
        machine.wait(0.25)
        machine.wall += 0.0001
        clock()
    assert clock() == pytest.approx(machine.wall, abs=0.01)
    assert machine.jumps == []
