"""Pages: the map from address to view, and what every page shares. `register(app)` is the one way in."""

from flask import Blueprint, Flask

from web.pages import assets, case, catalogue, code, difference, enter, headers, solve, submissions, theme, when, words


def register(app: Flask) -> None:
    """Put the pages, their template vocabulary and their headers onto the app."""
    app.register_blueprint(_addresses())
    app.after_request(headers.protect)
    app.jinja_env.globals.update(
        asset=assets.url,
        nonce=headers.nonce,
        theme=theme.chosen,
        verdict_words=words.of_verdict,
        label_words=words.of_label,
        shape_words=words.of_shape,
        parted=difference.part,
    )
    app.jinja_env.filters.update(
        python=code.highlighted, stamp=when.stamp, reading=when.reading, family=words.of_family
    )


def _addresses() -> Blueprint:
    pages = Blueprint("pages", __name__)
    at = pages.add_url_rule
    at("/", "home", catalogue.home)
    at("/drills", "catalogue", catalogue.show)
    at("/drills/<slug>", "solve", solve.show)
    at("/drills/<slug>", "send", solve.send, methods=["POST"])
    at("/submissions", "history", submissions.history)
    at("/submissions/<submission_id>", "submission", submissions.show)
    at("/submissions/<submission_id>/panel", "panel", submissions.panel)
    at("/submissions/<submission_id>/events", "events", submissions.events)
    at("/submissions/<submission_id>/cancel", "cancel", submissions.cancel, methods=["POST"])
    at("/submissions/<submission_id>/cases/<group>", "case", case.show)
    at("/submissions/<submission_id>/cases/<group>/reveal", "reveal", case.reveal, methods=["POST"])
    at("/enter", "door", enter.door)
    at("/enter/<key>", "enter", enter.enter)
    return pages
