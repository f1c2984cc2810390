"""Operating: the database's schema is brought up to date before anything that writes to it starts."""

from web.operate.complaint import Complaint
from web.store.upgrade import upgrade


def upgrade_database(url: str) -> None:
    try:
        upgrade(url)
    except Exception as problem:
        raise Complaint(f"The database cannot be brought up to date: {problem}") from problem
