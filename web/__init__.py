"""The front desk: who asks, what they may see, the database, the pages, the API and the `prefill` command."""
