"""A grader's own things: its drills, keys and keeper, read once from the environment."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from judge.calibrate import cpu_limit_s, reference_cpu_s
from judge.drill import Catalogue, Drill, catalogue
from judge.grade import Terms
from judge.hall import Hall
from judge.submission import Submission
from sandbox.lease import Keeper

KEY_OCTETS = 32

log = logging.getLogger("grader")


class OtherRevision(Exception):
    """This grader does not hold the revision that a job names, and did not find it on its disk."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`secrets` holds report_key, seed_key and case_public_key, 32 bytes each."""

    redis_url: str
    run: Path
    drills: tuple[Path, ...]
    secrets: Path
    queues: tuple[str, ...]

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "Settings":
        """Raises `SystemExit` with a sentence that names what is not set."""
        needed = ("PREFILL_REDIS_URL", "PREFILL_RUN", "PREFILL_DRILLS", "PREFILL_SECRETS")
        if missing := [name for name in needed if not env.get(name)]:
            raise SystemExit(f"grader: set {', '.join(missing)} (`prefilld run` does it for a house on one machine).")
        return cls(
            redis_url=env["PREFILL_REDIS_URL"],
            run=Path(env["PREFILL_RUN"]),
            drills=tuple(Path(root) for root in env["PREFILL_DRILLS"].split(os.pathsep) if root),
            secrets=Path(env["PREFILL_SECRETS"]),
            queues=tuple(f"grade-{name}" for name in env.get("PREFILL_QUEUES", "run,submit").split(",")),
        )

    def secret(self, name: str) -> bytes:
        content = (self.secrets / name).read_bytes()
        if len(content) != KEY_OCTETS:
            raise ValueError(f"{self.secrets / name} holds {len(content)} bytes, not {KEY_OCTETS}")
        return content


@dataclass(slots=True)
class Station:
    """What every grading of this grader needs. A horse changes only its own copy."""

    roots: tuple[Path, ...]
    keeper: Keeper
    seed_key: bytes
    report_key: bytes
    case_key: bytes
    catalogue: Catalogue
    hall: Hall | None = None
    cpu_s: dict[tuple[str, str], float] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> "Station":
        return cls(
            roots=settings.drills,
            keeper=Keeper(settings.run / "keeper.sock"),
            seed_key=settings.secret("seed_key"),
            report_key=settings.secret("report_key"),
            case_key=settings.secret("case_public_key"),
            catalogue=catalogue(settings.drills),
        )

    def drill(self, submission: Submission) -> Drill:
        """The drill as the job names it; from the disk, if it is not the one that was loaded at the start."""
        known = self.catalogue.drills.get(submission.drill)
        if known is None or known.revision != submission.revision:
            known = catalogue(self.roots).drills.get(submission.drill)
        if known is None or known.revision != submission.revision:
            holds = known.revision if known else "none"
            raise OtherRevision(f"{submission.drill}: {submission.revision} is asked for, {holds} is here")
        return known

    def terms(self, drill: Drill) -> Terms:
        """With the CPU limit measured at the start, or now, for a drill that came later."""
        key = (drill.slug, drill.revision)
        if key not in self.cpu_s:
            self.cpu_s[key] = cpu_limit_s(drill, reference_cpu_s(drill, self.keeper, self.hall))
        return Terms(cpu_s=self.cpu_s[key], seed_key=self.seed_key)
