#!/usr/bin/env bash
# draw.sh BUILD: draws the pictures of the README, window-light.png and window-dark.png, anew: the page Training after a
# comparison of FP32 and AMP FP16, by the program that draws the pages for the tests (tests/ui/screens). 128 colours are
# enough for a drawing, and a third of the bytes. Needs ImageMagick.
set -euo pipefail
build=${1:?usage: draw.sh BUILD}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$build/tests/ui/screens" "$out" 1280 800 --only ended_training_en
for theme in light dark; do
    convert "$out/ended_training_en_$theme.png" +dither -colors 128 -define png:compression-level=9 "PNG8:$here/window-$theme.png"
done
ls -l "$here"/window-*.png
