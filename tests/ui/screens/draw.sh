#!/bin/bash
# draw.sh BUILD OUT [--only PART]...: draws eleven pages in five states, two themes and two languages
# on three screens into OUT/SCREEN and checks each picture's layout (some pages need a run; the
# screens are drawn side by side), then pages with forced types and a clock as an axis, the page
# Network without a text, with a text, an imported model, errors, a traced step and the text of a run, and controls
# that no page shows by itself (controls.h). Network is drawn on a fourth screen, too. The list of faults lies in OUT/SCREEN/faults.txt. Fails
# if there is one.
#
#   1024x768   the smallest screen; 700 pixels of its height are the window's
#   1280x800   the page Network
#   1440x900   with text of 150 %
#   3840x2160  a scale of 2
set -u
build=$1 out=$2
shift 2
program=$build/tests/ui/screens
draw() {
    local name=$1 width=$2 height=$3 failed=0
    shift 3
    mkdir -p "$out/$name"
    "$program" "$out/$name" "$width" "$height" "$@" > "$out/$name/faults.txt" \
        2> >(grep -v "This plugin does not support" >&2) || failed=1
    echo "$name: $(ls "$out/$name"/*.png | wc -l) pictures, $(tail -1 "$out/$name/faults.txt")"
    return $failed
}
jobs=()
draw 1024x768 1024 700 "$@" & jobs+=($!)
draw 1280x800 1280 800 --only _network_ & jobs+=($!)
draw 1440x900-150 1440 900 --font 1.5 "$@" & jobs+=($!)
QT_SCALE_FACTOR=2 draw 3840x2160-2 1920 1080 "$@" & jobs+=($!)
failed=0
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
exit $failed
