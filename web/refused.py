"""What the desk says when it will not do a thing: a status, a code for programs, a sentence for people."""


class Refused(Exception):
    """A request that the desk turns down. Pages show it, the API sends it as a problem."""

    def __init__(self, status: int, code: str, title: str, detail: str = "") -> None:
        super().__init__(f"{status} {code}: {detail or title}")
        self.status = status
        self.code = code
        self.title = title
        self.detail = detail
