"""The terms a guest is held under, and the few classes of them that a keeper offers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What one guest may use. A keeper is asked for a class of these by name, never for numbers beyond it.

    `cpu_s` is the fence for a whole submission: the grader asks for less (a multiple of the reference's CPU
    time on that host), never for more. `wall_s` is the backstop for sleepers. `call_s` bounds one whole answer.
    """

    call_s: float
    cpu_s: float
    wall_s: float
    memory_mib: int
    processes: int
    open_files: int
    file_mib: int
    scratch_mib: int
    output_kib: int


LIMIT_CLASSES: dict[str, Limits] = {
    "small": Limits(
        call_s=10.0,
        cpu_s=30.0,
        wall_s=90.0,
        memory_mib=512,
        processes=64,
        open_files=256,
        file_mib=16,
        scratch_mib=32,
        output_kib=64,
    ),
}
