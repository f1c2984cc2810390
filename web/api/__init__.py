"""API v1: the desk for programs. Bearer tokens only, JSON only, errors as problem documents. One module a resource."""
