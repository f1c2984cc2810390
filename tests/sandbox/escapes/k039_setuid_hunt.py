"""K039: run every setuid or setgid program; count capabilities."""

import os
import subprocess


def attack(canary):
    status = dict(line.rstrip("\n").partition(":\t")[::2] for line in open("/proc/self/status"))
    found = [name for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb") if int(status[name], 16)]
    if status["NoNewPrivs"] != "1":
        found.append("new privileges")
    for folder, below, names in os.walk("/usr"):
        for name in names:
            path = os.path.join(folder, name)
            try:
                if os.lstat(path).st_mode & 0o6000:
                    said = subprocess.run([path, "--version"], capture_output=True, timeout=2, user=None)
                    if b"uid=0" in said.stdout:
                        found.append(path)
            except (OSError, subprocess.SubprocessError):
                continue
    try:
        os.setuid(0)
        found.append("setuid(0)")
    except OSError:
        pass
    return found
