#!/usr/bin/env bash
# check_licences_test.sh PROGRAM ROOT: check_licences.sh refuses a list that lacks a linked, a static and an opened library and
# a header, and names each.
set -uo pipefail
program=${1:?usage: check_licences_test.sh PROGRAM ROOT}
root=${2:?usage: check_licences_test.sh PROGRAM ROOT}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir "$tree/resources"
for folder in app engine kernels ui; do cp -r "$root/$folder" "$tree/$folder"; done
sed -E '/^(Files|Opened|Headers):/s/ (libcsv|libcudart_static|libnccl|nlohmann)\>//' "$root/resources/licences.txt" > "$tree/resources/licences.txt"
echo 'void* other() { return dlopen("libother.so.1", 2); }' > "$tree/engine/src/opener.cpp"

output=$("$here/check_licences.sh" "$program" "$tree") && { echo "accepted a list that lacks four names"; exit 1; }
failures=0
for text in 'linked library libcsv:' 'static library libcudart_static:' 'opened library libnccl:' 'header nlohmann:' \
    'opened library libother:' 'opener.cpp opens libraries'; do
    [[ $output == *"$text"* ]] || { echo "no complaint about: $text"; failures=1; }
done
((failures == 0)) && echo "all six complaints"
exit $failures
