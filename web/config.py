"""The front desk's settings: the environment (PREFILL_*), read once, with defaults for a laptop."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


class Settings(BaseSettings):
    """Where things are, and whether this is one person's own machine (`local`) or a service."""

    # Compose passes what is unset as "".
    model_config = SettingsConfigDict(env_prefix="PREFILL_", env_ignore_empty=True, frozen=True, extra="ignore")

    state: Path = Path("var")
    run: Path = Path("/tmp/prefill")
    database_url: str = ""
    redis_url: str = "redis://127.0.0.1:6379/0"
    drills: str = str(Path(__file__).resolve().parent.parent / "drills")
    secrets: Path | None = None
    base_url: str = "http://127.0.0.1:8000"
    hosts: str = Field(default="", description="further host names that requests may name, separated by commas")
    local: bool = False
    owner_name: str = "owner"

    @property
    def database(self) -> str:
        """The SQLAlchemy URL; without one, SQLite in the state directory."""
        return self.database_url or f"sqlite:///{self.state.resolve() / 'prefill.db'}"

    @property
    def drill_roots(self) -> tuple[Path, ...]:
        """The directories of drills, in the order in which they are looked through."""
        return tuple(Path(part) for part in self.drills.split(os.pathsep) if part)

    @property
    def secrets_dir(self) -> Path:
        """Where the keys lie."""
        return self.secrets or self.state / "secrets"

    @property
    def secure(self) -> bool:
        """Whether people reach this server by https."""
        return urlsplit(self.base_url).scheme == "https"

    @property
    def known_hosts(self) -> frozenset[str]:
        """The names under which this server may be addressed; anything else is a rebinding trick or a mistake."""
        named = [urlsplit(self.base_url).hostname or "", *(host.strip() for host in self.hosts.split(","))]
        return frozenset([*LOOPBACK_HOSTS, *filter(None, named)])

    def secret(self, name: str) -> bytes:
        """The bytes of one key. A missing key is a broken installation and says which file is missing."""
        path = self.secrets_dir / name
        try:
            return path.read_bytes()
        except FileNotFoundError as error:
            raise FileNotFoundError(f"the key file {path} is missing; `prefilld run` makes it") from error
