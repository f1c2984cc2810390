"""The database: SQLite on one machine, PostgreSQL when hosted. The row is the truth; everything else is a wake-up."""
