#!/usr/bin/env bash
# Installs what is missing, builds Halftone and opens its window. Arguments go to the program.
# Without a display it trains the default comparison in the terminal instead.
#
# HALFTONE_CUDA=0|1   without CUDA, or with it although there is no card (default: if there is a card, and for that card)
# HALFTONE_JOBS=N     compilers at a time (default: one per core, fewer if little memory is free)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=installer/packages.sh
source installer/packages.sh
room_mb=700  # of the built folder

if ! install_packages; then
    echo "run.sh: the packages above could not be installed; nothing was built." >&2
    exit 1
fi
choose_cuda product || exit 1
enough_room build/release $room_mb || exit 1
if ! configure_and_build release halftone "${cuda_arguments[@]}"; then
    echo "run.sh: the build failed; the first error is above." >&2
    exit 1
fi

program=build/release/halftone
if [[ $# -gt 0 ]]; then
    exec "$program" "$@"
elif [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]]; then
    echo "Halftone opens its window: press Compare to train the same network in FP32 and in AMP FP16."
    echo "Next time start $program; in a terminal, $program --help lists its commands."
    exec "$program"
fi
echo "No display here: training the default comparison in this terminal. Its plots and its report go to"
echo "halftone-report/ (where there is a display, this opens the window)."
"$program" compare --report halftone-report
echo "Next: open halftone-report/report.html in a browser; $program train trains one run with your settings."
echo "$program --help lists all commands, and resources/handbook/first-hour.md shows the way around."
