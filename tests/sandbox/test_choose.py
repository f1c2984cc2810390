"""Which sandbox is taken, and that nothing weaker is ever taken in silence."""

import pytest

from sandbox.choose import choose
from sandbox.errors import SandboxError
from tests.sandbox.conftest import Workshop


def test_a_name_that_is_none_is_refused(workshop: Workshop) -> None:
    """The refusal lists what there is."""
    with pytest.raises(SandboxError, match="auto, docker, bubblewrap, process"):
        choose("chroot", workshop.place)


def test_a_named_sandbox_that_does_not_work_is_an_error(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asked for bubblewrap never gets less."""
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(SandboxError, match="not installed"):
        choose("bubblewrap", workshop.place)


@pytest.mark.bubblewrap
def test_auto_says_what_it_passed_over(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Docker bubblewrap is taken, and the sentence names both."""
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    sandbox, why = choose("auto", workshop.place)
    sandbox.close()
    assert sandbox.name == "bubblewrap"
    assert "docker does not work here" in why
