#!/bin/bash
# `make test`: installs and starts what the tests need, runs every check, stops what it started.
# PREFILL_ALL=1 adds the long tests. CI=true turns a skipped test into a failure.
set -uo pipefail
cd "$(dirname "$0")/../.."
. tests/setup/parts.sh
. tests/setup/engine.sh

trap stop_engine EXIT
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "prefill: Python 3.11 or newer is needed"; exit 1; }
install_parts || exit 1
python3 -I web/operate/install.py test || exit 1
start_engine && base_image

failed=()
check() { echo "== $*"; "$@" || failed+=("$1 $2"); }
bin=.venv/bin
check $bin/ruff check .
check $bin/ruff format --check .
check $bin/mypy -p web -p judge -p sandbox
check $bin/lint-imports
check $bin/pytest -q -ra --durations=15 --timeout=300
if [ ${#failed[@]} -gt 0 ]; then printf 'failed: %s\n' "${failed[@]}"; exit 1; fi
echo "All checks passed."
