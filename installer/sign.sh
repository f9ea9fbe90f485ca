#!/usr/bin/env bash
# sign.sh [FOLDER]: signs the packages in FOLDER (default: build/packages). SHA256SUMS names each of them; the signature,
# SHA256SUMS.asc, is of that file. A person who downloads them checks both:
#
#     gpg --verify SHA256SUMS.asc SHA256SUMS && sha256sum --check SHA256SUMS
#
# HALFTONE_KEY   the key, as gpg names it (default: gpg's own default key)
set -euo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/../build/packages}"
[[ -s SHA256SUMS ]] || { echo "sign.sh: $PWD has no SHA256SUMS: make packages first" >&2; exit 1; }
for file in *.deb *.tar.xz *.AppImage *.spdx.json; do
    [[ ! -e $file ]] || grep -qF "  $file" SHA256SUMS || { echo "sign.sh: SHA256SUMS does not name $file" >&2; exit 1; }
done
sha256sum --quiet --check SHA256SUMS || { echo "sign.sh: a package has changed since SHA256SUMS was written" >&2; exit 1; }
gpg --batch --yes ${HALFTONE_KEY:+--local-user "$HALFTONE_KEY"} --armor --output SHA256SUMS.asc --detach-sign SHA256SUMS
gpg --batch --verify SHA256SUMS.asc SHA256SUMS
