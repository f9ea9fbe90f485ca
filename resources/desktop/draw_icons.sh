#!/usr/bin/env bash
# draw_icons.sh: draws the desktop's icons, icons/halftone-SIZE.png, anew from resources/icons/logo.svg. Needs ImageMagick
# and zopflipng, which halves the large ones.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$here/icons"
for size in 16 22 24 32 48 64 128 256 512; do
    # ImageMagick's own renderer outlines shapes without a stroke, and its edges are coarse: drawn four times as large.
    sed 's/<g /<g stroke="none" /' "$here/../icons/logo.svg" |
        convert -background none -density $((72 * 4 * size / 64)) svg:- -resize "${size}x$size!" -strip \
            -define png:exclude-chunks=date,time -define png:compression-level=9 "PNG32:$here/icons/halftone-$size.png"
    zopflipng -y --iterations=5 "$here/icons/halftone-$size.png" "$here/icons/halftone-$size.png"
done
