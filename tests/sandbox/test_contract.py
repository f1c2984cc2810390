"""One suite of promises over all sandboxes: each is held to what it declares, and to nothing else.

`NEVER` names what a sandbox does not promise anywhere. What it does promise somewhere must hold here, or the test is
left out with the reason (on a machine without root or control groups).
"""

import errno
import os
from collections.abc import Callable
from dataclasses import replace

import psutil
import pytest

from sandbox.box import Promise, Sandbox
from sandbox.errors import GuestFault, SolutionRaised
from tests.parts import wait_for
from tests.sandbox.conftest import SMALL, Guest, Workshop, promised

NEVER = {
    "docker": frozenset[Promise](),
    "bubblewrap": frozenset({Promise.NOEXEC}),
    "process": frozenset(Promise) - {Promise.OUTPUT, Promise.ENVIRONMENT},
}


@pytest.fixture
def holds(sandbox: Sandbox) -> Callable[[Promise], bool]:
    """Whether the sandbox at hand is to be held to this promise."""

    def held(promise: Promise) -> bool:
        if promise in NEVER[sandbox.name]:
            assert promise not in sandbox.promises
            return False
        promised(sandbox, promise)
        return True

    return held


ERROR = """
def attempt(what, *args):
    try:
        return what(*args)
    except OSError as error:
        return type(error).__name__
"""


def test_a_call_is_answered(guest: Guest) -> None:
    """What goes in as plain data comes back as plain data."""
    assert guest.do("def go(x): return x + [1]", [2, 3]) == [2, 3, 1]


def test_nothing_of_a_child_reaches_the_next(guest: Guest) -> None:
    """Neither a file in scratch space nor a running process outlives its child."""
    guest.do(
        "import os, subprocess\ndef go():\n open('left', 'w').close()\n os.fork() or __import__('time').sleep(600)"
    )
    assert guest.do("import os\ndef go(): return os.listdir('.')") == []


def test_a_dead_child_does_not_take_its_guest_along(guest: Guest) -> None:
    """After a crash the next child of the same guest answers."""
    with pytest.raises(GuestFault):
        guest.do("import os\ndef go(): os._exit(137)")
    assert guest.do("def go(): return 1") == 1


def test_how_a_child_ended_is_told(guest: Guest) -> None:
    """The agent says whether a child exited or was killed, and its output is at hand."""
    with pytest.raises(GuestFault):
        guest.do("import os\ndef go():\n print('last words', flush=True)\n os._exit(3)")
    guest.box.settle(5)
    assert guest.box.ended is not None
    assert (guest.box.ended.how, guest.box.ended.number) == ("exit", 3)
    assert guest.box.output(5) == "last words\n"


def test_a_killed_guest_leaves_nothing(guest: Guest, workshop: Workshop, sandbox: Sandbox) -> None:
    """Afterwards there is no process, folder or control group of it, whatever it had started."""
    guest.do("import os, time\ndef go():\n for _ in range(5):\n  if not os.fork(): os.setsid(), time.sleep(600)")
    guest.box.kill()
    guest.box.kill()
    assert not guest.box.alive()
    assert list((workshop.place.run / "g").iterdir()) == []
    assert _processes_of(workshop) == []
    assert _groups_of(workshop) == []


def _processes_of(workshop: Workshop) -> list[str]:
    """Command lines that name the workshop's folder, or its agents inside a container."""
    lines = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if process.info["status"] != psutil.STATUS_ZOMBIE and str(workshop.place.run) in line:
            lines.append(line)
    return lines


def _groups_of(workshop: Workshop) -> list[str]:
    found = []
    for folder, below, _ in os.walk("/sys/fs/cgroup"):
        if workshop.place.label in folder.rsplit("/", 1)[-1]:
            found += below
    return found


def test_the_environment_is_ours(guest: Guest) -> None:
    """A guest finds the same few harmless variables everywhere, and nothing of the host's."""
    names = guest.do("import os\ndef go(): return sorted(os.environ)")
    assert set(names) <= {"PATH", "HOME", "TMPDIR", "LANG", "TZ", "PWD", "LC_CTYPE"}


def test_output_ends_at_its_size(guest: Guest) -> None:
    """A flood is stopped, noticed, and kept only up to the limit."""
    with pytest.raises((GuestFault, SolutionRaised)):  # it may see its pipe break before it is killed
        guest.do("def go():\n while True: print('x' * 1000)")
    wait_for(lambda: guest.box.settle(0.1) or guest.box.flooded, "nobody noticed the flood")
    assert len(guest.box.output(5)) <= SMALL.output_kib * 1024


def test_memory_ends_the_child_and_is_witnessed(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """Over the limit the kernel kills a child of the guest; the counter says so and the agent lives on."""
    if not holds(Promise.MEMORY):
        return
    with pytest.raises(GuestFault):
        guest.do("def go(): return len(bytearray(700 << 20))")
    usage = guest.box.usage()
    assert usage.oom_kills > guest.box.oom_before
    assert usage.memory_peak_mib <= SMALL.memory_mib
    assert guest.do("def go(): return 1") == 1


def test_a_self_inflicted_kill_is_not_memory(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """Neither exit status 137 nor a SIGKILL of its own looks like running out of memory."""
    if not holds(Promise.MEMORY):
        return
    for ending in ("os._exit(137)", "os.kill(os.getpid(), 9)"):
        with pytest.raises(GuestFault):
            guest.do(f"import os\ndef go(): {ending}")
        assert guest.box.usage().oom_kills == 0


def test_scratch_space_counts_as_memory(open_guest: Callable[..., Guest], holds: Callable[[Promise], bool]) -> None:
    """Filling scratch is bounded by the memory limit too, where that is the smaller one."""
    if not holds(Promise.MEMORY):
        return
    guest = open_guest(replace(SMALL, memory_mib=64, scratch_mib=256, file_mib=256))
    with pytest.raises(GuestFault):
        guest.do("def go():\n f = open('x', 'wb')\n for _ in range(200): f.write(b'x' * (1 << 20))")
    assert guest.box.usage().oom_kills > 0


def test_cpu_of_every_process_is_counted(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """Work hidden in a grandchild that is dead by now is counted all the same."""
    if not holds(Promise.CPU):
        return
    before = guest.box.usage().cpu_s
    guest.do(
        "import os, time\ndef go():\n"
        " if not (pid := os.fork()):\n"
        "  if not os.fork():\n"
        "   while time.process_time() < 0.4: pass\n"
        "   os._exit(0)\n"
        "  os.wait(); os._exit(0)\n"
        " os.wait()"
    )
    assert guest.box.usage().cpu_s - before > 0.3


def test_a_fork_bomb_meets_a_refusal(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """The system refuses further processes at the limit, and the guest can still be used."""
    if not holds(Promise.PROCESSES):
        return
    forks = guest.do(
        "import os, time\ndef go():\n for n in range(10_000):\n"
        "  try:\n   if not os.fork(): time.sleep(600)\n  except BlockingIOError: return n"
    )
    assert 0 < forks <= SMALL.processes
    assert guest.do("def go(): return 1") == 1


def test_threads_count_as_processes(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """Threads meet the same refusal."""
    if not holds(Promise.PROCESSES):
        return
    source = (
        "import threading, time\ndef go():\n for n in range(10_000):\n"
        "  try: threading.Thread(target=time.sleep, args=(600,), daemon=True).start()\n"
        "  except RuntimeError: return n"
    )
    assert 0 < guest.do(source) <= SMALL.processes


def test_there_is_no_network(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """No interface but loopback, and no socket family but the local one."""
    if not holds(Promise.NETWORK):
        return
    source = (
        ERROR + "import socket\n"
        "def go(): return [attempt(socket.socket, family, kind)\n"
        "  for family in (2, 10, 16, 17, 38, 40, 31, 44) for kind in (1, 2, 3)]"
    )
    assert set(guest.do(source)) <= {"OSError", "PermissionError"}
    devices = guest.do("def go(): return [line.split(':')[0].strip() for line in open('/proc/net/dev')][2:]")
    assert devices == ["lo"]


def test_the_host_s_files_are_out_of_reach(guest: Guest, holds: Callable[[Promise], bool], workshop: Workshop) -> None:
    """Neither this repository, nor the keeper's folder, nor anybody's home is there to be read."""
    if not holds(Promise.FILES):
        return
    wanted = [__file__, str(workshop.place.run / "keeper.lock"), "/etc/shadow", "/etc/gshadow", "/var/run/docker.sock"]
    assert guest.do(ERROR + "def go(paths): return [attempt(open, p) for p in paths]", wanted) in (
        ["FileNotFoundError"] * len(wanted),
        ["FileNotFoundError", "FileNotFoundError", "PermissionError", "PermissionError", "FileNotFoundError"],
    )


def test_nothing_but_scratch_can_be_written(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """Not one folder of the file system but scratch takes a new file."""
    if not holds(Promise.FILES):
        return
    source = (
        "import os\n"
        "def go():\n"
        " found = []\n"
        " for folder, below, _ in os.walk('/'):\n"
        "  if folder.startswith('/proc/') or folder.count('/') > 4: below.clear(); continue\n"
        "  try: open(os.path.join(folder, 'canary'), 'w').close(); found.append(folder)\n"
        "  except OSError: pass\n"
        " return found"
    )
    assert guest.do(source) == ["/tmp"]


def test_scratch_space_ends(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """Many files together meet "no space left" at the size of scratch space."""
    if not holds(Promise.DISK):
        return
    source = (
        "def go():\n total = 0\n for n in range(100):\n"
        "  try:\n   with open(str(n), 'wb', buffering=0) as f: total += f.write(b'x' * (4 << 20))\n"
        "  except OSError: return total\n return total"
    )
    assert guest.do(source) <= SMALL.scratch_mib << 20


def test_one_file_ends(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """One file meets its own limit, however thin it is spread."""
    if not holds(Promise.DISK):
        return
    source = ERROR + "def go(): return attempt(lambda: open('x', 'wb').truncate(1 << 40))"
    assert guest.do(source) == "OSError"


def test_what_is_written_can_t_be_executed(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """A program dropped into scratch space, or into memory, does not run."""
    if not holds(Promise.NOEXEC):
        return
    source = (
        ERROR + "import os, shutil, subprocess\ndef go():\n"
        " shutil.copy('/bin/true', '/tmp/dropped'); os.chmod('/tmp/dropped', 0o755)\n"
        " return [attempt(lambda: subprocess.run(['/tmp/dropped']).returncode),\n"
        "  attempt(lambda: os.memfd_create('x'))]"
    )
    assert guest.do(source) in (["PermissionError", "OSError"], ["PermissionError"] * 2)


def test_the_agent_can_t_be_reached(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """Process 1 takes no signal from a submission, and its memory can't be opened."""
    if not holds(Promise.AGENT):
        return
    source = (
        ERROR + "import os\ndef go():\n"
        " for number in range(1, 65): attempt(os.kill, 1, number)\n"
        " return [attempt(open, f'/proc/1/{name}', mode)\n"
        "  for name, mode in (('mem', 'rb'), ('mem', 'r+b'), ('environ', 'rb'))]"
    )
    assert guest.do(source) == ["PermissionError"] * 3
    assert guest.box.alive()
    assert guest.do("def go(): return 1") == 1


def test_dangerous_system_calls_are_refused(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """Tracing, other processes' memory, namespaces, keyrings, SysV IPC, io_uring and the like do not exist here."""
    if not holds(Promise.SYSCALLS):
        return
    names = ["ptrace", "process_vm_readv", "process_vm_writev", "unshare", "setns", "mount", "umount2", "pivot_root"]
    names += ["add_key", "keyctl", "request_key", "shmget", "msgget", "semget", "io_uring_setup", "bpf", "userfaultfd"]
    names += [
        "perf_event_open",
        "kexec_load",
        "init_module",
        "open_by_handle_at",
        "clone3",
        "memfd_create",
        "personality",
    ]
    numbers = [NUMBERS[name] for name in names]
    source = (
        "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\ndef go(numbers):\n"
        " return [(libc.syscall(n, 0, 0, 0, 0, 0, 0), ctypes.get_errno())[0] for n in numbers]"
    )
    assert dict(zip(names, guest.do(source, numbers), strict=True)) == dict.fromkeys(names, -1)
    errnos = source.replace("[0] for", "[1] for")
    assert set(guest.do(errnos, numbers)) <= {errno.ENOSYS, errno.EPERM}  # engines before 23 know only the latter


# x86_64's numbers; the suite runs there.
NUMBERS = {
    "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311, "unshare": 272, "setns": 308, "mount": 165,
    "umount2": 166, "pivot_root": 155, "add_key": 248, "keyctl": 250, "request_key": 249, "shmget": 29, "msgget": 68,
    "semget": 64, "io_uring_setup": 425, "bpf": 321, "userfaultfd": 323, "perf_event_open": 298, "kexec_load": 246,
    "init_module": 175, "open_by_handle_at": 304, "clone3": 435, "memfd_create": 319, "personality": 135,
}  # fmt: skip


def test_a_foreign_abi_ends_the_process(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """The 32-bit gate and the x32 numbers would go past a filter by number: they end the child."""
    if not holds(Promise.SYSCALLS):
        return
    x32 = "import ctypes\ndef go(): return ctypes.CDLL(None).syscall(0x40000000 + 39)"
    gate = (
        "import ctypes, mmap\ndef go():\n"
        " page = mmap.mmap(-1, 4096, prot=7)\n"
        " page.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))\n"
        " return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()"
    )
    for source in (x32, gate):
        with pytest.raises(GuestFault):
            guest.do(source)
        guest.box.settle(5)
        assert guest.box.ended is not None
        assert guest.box.ended.how == "signal"


def test_namespaces_can_t_be_made(guest: Guest, holds: Callable[[Promise], bool]) -> None:
    """`clone` with a flag for a new namespace is refused, and without one it is not."""
    if not holds(Promise.SYSCALLS):
        return
    source = "import ctypes\ndef go(): return ctypes.CDLL(None).syscall(56, 0x10000000 | 17, 0, 0, 0, 0)"
    assert guest.do(source) == -1


def test_each_guest_is_a_user_of_its_own(open_guest: Callable[..., Guest], holds: Callable[[Promise], bool]) -> None:
    """Never root, no groups, no capability, no way to gain one, and no two guests alike, as the host sees them."""
    if not holds(Promise.IDENTITY):
        return
    source = (
        "import os\ndef go():\n"
        " status = dict(line.rstrip().partition(':\\t')[::2] for line in open('/proc/self/status'))\n"
        " return [int(open('/proc/self/uid_map').read().split()[1]) and os.getuid(), os.getuid(), os.getgroups(),\n"
        "  int(status['CapEff'], 16), int(status['CapBnd'], 16), int(status['NoNewPrivs'])]"
    )
    first, second = open_guest().do(source), open_guest().do(source)
    for _, uid, groups, effective, bounding, no_new in (first, second):
        assert uid >= 64000
        assert set(groups) <= {uid}
        assert (effective, bounding, no_new) == (0, 0, 1)
    assert first[1] != second[1]


def test_an_orphan_is_swept(guest: Guest, sandbox: Sandbox, workshop: Workshop) -> None:
    """What an earlier life left is found by its label and removed; then there is nothing to find."""
    if sandbox.name == "process":
        assert sandbox.sweep() == 0
        return
    assert guest.box.alive()
    promised(sandbox, Promise.MEMORY)
    assert sandbox.sweep() == 1
    assert not guest.box.alive()
    assert sandbox.sweep() == 0
