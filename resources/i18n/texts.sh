#!/usr/bin/env bash
# The texts in another language, to edit and back: texts.sh unpack CODE writes ui_CODE.po and engine_CODE.po beside this
# script, which builds then take; texts.sh pack CODE puts them into CODE.tar.xz, which is what is kept. Equal texts give an
# equal archive.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
if [[ $# != 2 || ! $1 =~ ^(unpack|pack)$ ]]; then
    echo "texts.sh: give unpack or pack, and a language, as in: texts.sh unpack zh_CN" >&2
    exit 2
fi
files=("engine_$2.po" "ui_$2.po")
if [[ $1 == unpack ]]; then
    for file in "${files[@]}"; do
        if [[ -e $file ]]; then
            echo "texts.sh: $file is there already: pack it, or remove it to take the kept one." >&2
            exit 1
        fi
    done
    tar -xJf "$2.tar.xz"
else
    tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 --format=ustar -cf - "${files[@]}" |
        xz -9e > "$2.tar.xz.new"
    mv "$2.tar.xz.new" "$2.tar.xz"
    rm "${files[@]}"
fi
