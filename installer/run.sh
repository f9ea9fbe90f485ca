#!/usr/bin/env bash
# Installs what is missing, builds Halftone and opens its window. Arguments go to the program.
# Without a display it trains the default comparison in the terminal instead.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source installer/packages.sh

if ! install_packages; then
    echo "run.sh: the packages above could not be installed; nothing was built." >&2
    exit 1
fi
prepare_cuda
if ! configure_and_build release halftone; then
    echo "run.sh: the build failed; the first error is above." >&2
    exit 1
fi

program=build/release/halftone
if [[ $# -gt 0 ]]; then
    exec "$program" "$@"
elif [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    exec "$program"
fi
echo "No display here: training the default comparison in this terminal. Its plots and its report go to"
echo "halftone-report/ (where there is a display, this opens the window)."
exec "$program" compare --report halftone-report
