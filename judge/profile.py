"""How Hypothesis runs everywhere in this house: on an author's machine, in the gate, in the grader.

Draws must depend on the seed alone. Hypothesis also mixes in literals that it reads out of whatever local modules
happen to be imported, so the same seed drew other values in a warm grader than in a cold one; that pool is kept empty.
"""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

PROFILE = "prefill"
SEARCH = (Phase.explicit, Phase.generate)
SEARCH_AND_SHRINK = (Phase.explicit, Phase.generate, Phase.shrink)


def use_profile(phases: tuple[Phase, ...] = SEARCH_AND_SHRINK) -> None:
    """Make ours the default profile; call it before any drill's test file is imported."""
    settings.register_profile(
        PROFILE,
        deadline=None,
        database=None,
        derandomize=False,
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
        phases=phases,
    )
    settings.load_profile(PROFILE)
    # Not public. Where a later version has no such function, nothing is replaced and the draws' test says so.
    providers._get_local_constants = _no_local_constants


def _no_local_constants() -> Constants:
    return providers._local_constants
