#!/usr/bin/env bash
# draw.sh BUILD: draws the picture of the README, window.webp, anew: the page Training after a
# comparison of FP32 and AMP FP16, by the program that draws the pages for the tests (tests/ui/screens). 128 colours are
# enough for a drawing, and a third of the bytes. Needs ImageMagick with WebP.
set -euo pipefail
build=${1:?usage: draw.sh BUILD}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$build/tests/ui/screens" "$out" 1280 800 --only ended_training_en
convert "$out/ended_training_en_light.png" +dither -colors 128 -define webp:lossless=true -define webp:method=6 -quality 100 "$here/window.webp"
ls -l "$here/window.webp"
