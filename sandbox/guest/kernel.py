"""What a guest asks of the kernel: privacy, who dies first, an end to all others, an empty scratch folder."""

import contextlib
import ctypes
import os
import resource
import signal

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
_OUR_CHILDREN = f"/proc/self/task/{os.getpid()}/children"


def become_private(cpu_s: int) -> None:
    """Make this process one that its children can't read, trace or signal, and that can't spin for ever."""
    _prctl(_PR_SET_DUMPABLE, 0)
    # Where we are not process 1, orphans come to us all the same, so that none of them is lost from sight.
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    # Process 1 gets no signal that it has no handler for; Python installs one for this signal.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The hard limit: process 1 is deaf to the signal of the soft one.
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))


def become_first_to_die() -> None:
    """When memory runs out, the kernel ends this process rather than the agent."""
    # The agent's privacy, which a fork inherits, would keep us from writing to our own file.
    _prctl(_PR_SET_DUMPABLE, 1)
    with contextlib.suppress(FileNotFoundError), open("/proc/self/oom_score_adj", "w") as file:  # macOS has none
        file.write("1000")


def end_others(child: int | None) -> None:
    """Kill every other process of this guest, and wait until none is left. `child` leads the group we know of."""
    while True:
        for target in _others(child):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(target, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _others(child: int | None) -> list[int]:
    if os.getpid() == 1:
        return [-1]
    if os.path.exists(_OUR_CHILDREN):
        with open(_OUR_CHILDREN) as file:
            return [int(pid) for pid in file.read().split()]
    return [] if child is None else [-child]


def own_scratch(folder: str | None) -> str | None:
    """The folder that is emptied between children. One that held something before we came is not ours to empty."""
    if folder is None or (os.getpid() != 1 and os.listdir(folder)):
        return None
    return folder


def empty(folder: str | None) -> None:
    """Remove all that is in a folder, when nobody else is left who could put something there.

    A folder inside is emptied by raising its own folders to the top, so no nesting is too deep for this.
    """
    if folder is None:
        return
    with contextlib.suppress(PermissionError):  # the folder itself may be root's, and then its mode is as it was
        os.chmod(folder, 0o700)
    while entries := list(os.scandir(folder)):
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                _raise_folders(entry.path, folder)
                os.rmdir(entry.path)
            else:
                os.unlink(entry.path)


def _raise_folders(folder: str, top: str) -> None:
    os.chmod(folder, 0o700)
    for entry in list(os.scandir(folder)):
        if entry.is_dir(follow_symlinks=False):
            os.chmod(entry.path, 0o700)
            os.rename(entry.path, os.path.join(top, os.urandom(16).hex()))
        else:
            os.unlink(entry.path)


def _prctl(option: int, value: int) -> None:
    prctl = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None)  # macOS has none
    if prctl is not None and prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value})")
