"""Pages: the headers that keep a page to its own scripts and styles.

Nothing runs that this server did not send as a file; the one nonce is for the style element that the editor makes.
A header that something else has set already stays as it is.
"""

import secrets

from flask import Response, g

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=()",
}


def nonce() -> str:
    """This request's style nonce; the same for the whole page."""
    if "style_nonce" not in g:
        g.style_nonce = secrets.token_urlsafe(16)
    return str(g.style_nonce)


def protect(response: Response) -> Response:
    """Add the policy to a page and the rest to every answer."""
    for name, value in ALWAYS.items():
        response.headers.setdefault(name, value)
    if response.mimetype == "text/html":
        response.headers.setdefault("Content-Security-Policy", POLICY.format(nonce=nonce()))
        # Pages hold one person's code; no shared cache may keep them.
        response.headers.setdefault("Cache-Control", "private, no-cache")
    return response
