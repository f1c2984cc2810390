"""The `prefill` command: speaks HTTP to a judge and imports nothing else of the web room."""
