"""The examiner: what is right. Trusted code; holds the hidden tests, never the submission."""
