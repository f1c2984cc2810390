"""Operating: the database's schema is brought up to date before anything that writes to it starts."""

from web.operate.complaint import Complaint
from web.store.upgrade import upgrade


def upgrade_database(url: str) -> None:
    if not url:
        raise Complaint("No database is named. Set PREFILL_DATABASE_URL, for example sqlite:////srv/prefill/prefill.db")
    try:
        upgrade(url)
    except Exception as problem:
        raise Complaint(f"The database cannot be brought up to date: {problem}") from problem
