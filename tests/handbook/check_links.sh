#!/usr/bin/env bash
# check_links.sh ROOT: in the pages of resources/handbook each link within the repository leads to a file that exists, each
# anchor to a heading of its page, and each path in code quotes ("`amp/autocast.h`") to a file of the repository, from its root
# or from one of the folders below. A page that no other page links to cannot be found and is refused, too; a translation,
# NAME.zh.md, only needs its NAME.md.
set -uo pipefail
root=${1:?usage: check_links.sh ROOT}
cd "$root" || exit 2
handbook=resources/handbook
folders=(. engine/src engine/include kernels/include ui/src ui/include)
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# Anchors as GitHub makes them of headings.
anchors() {
    sed -nE 's/^#{1,6} +(.*[^ ]) *$/\1/p' "$1" |
        awk '{ $0 = tolower($0); gsub(/[][!"#$%&'\''()*+,.\/:;<=>?@\\^`{|}~×–]/, ""); gsub(/ /, "-"); print }'
}

# LINE:TARGET of each link outside of blocks and quotes of code.
links() {
    awk '/^```/ { code = !code } !code && !/^    / {
        gsub(/`[^`]*`/, "")
        while (match($0, /\]\([^) ]+\)/)) {
            print FNR ":" substr($0, RSTART + 2, RLENGTH - 3)
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' "$1"
}

# LINE:PATH of each path to a file in quotes of code, but of patterns such as `checkpoint-STEP/state.json`.
paths() {
    awk '{
        while (match($0, /`[^`]+`/)) {
            path = substr($0, RSTART + 1, RLENGTH - 2)
            if (path !~ /STEP|NAME|KIND/ && path ~ /^[a-z][A-Za-z0-9_.\/-]*\/[A-Za-z0-9_.-]+\.(h|cpp|cu|inc|in|txt|sh|awk|py|md|qrc|ts|json|svg|cmake)$/)
                print FNR ":" path
            $0 = substr($0, RSTART + RLENGTH)
        }
    }' "$1"
}

exists() {
    local folder
    for folder in "${folders[@]}"; do [[ -f $folder/$1 ]] && return 0; done
    return 1
}

declare -A linked
count=0
check_link() {  # PAGE LINE TARGET
    local page=$1 line=$2 target=$3 file anchor=
    [[ $target =~ ^(https?|mailto): ]] && return
    count=$((count + 1))
    file=${target%%#*}
    [[ $target == *'#'* ]] && anchor=${target#*#}
    if [[ $file == /* ]]; then
        complain "$page:$line: $target is not relative"
        return
    fi
    local place=${page%/*}/$file
    [[ -n $file ]] || place=$page
    if [[ ! -e $place ]]; then
        complain "$page:$line: $target leads nowhere"
        return
    fi
    [[ $(realpath "$place") != $(realpath "$page") ]] && linked[$(realpath "$place")]=1
    if [[ -n $anchor ]] && ! anchors "$place" | grep -xF -- "$anchor" > /dev/null; then
        complain "$page:$line: $target: no such heading"
    fi
}

pages=("$handbook"/*.md)
for page in "${pages[@]}"; do
    while IFS=: read -r line target; do check_link "$page" "$line" "$target"; done < <(links "$page")
    while IFS=: read -r line path; do
        count=$((count + 1))
        exists "$path" || complain "$page:$line: there is no file $path"
    done < <(paths "$page")
done
for page in "${pages[@]}"; do
    if [[ $page == *.zh.md ]]; then
        [[ -f ${page%.zh.md}.md ]] || complain "$page is a translation of no page"
        continue
    fi
    [[ $page == "$handbook/README.md" || -n ${linked[$(realpath "$page")]:-} ]] || complain "no page links to $page"
done
grep -qF "](resources/handbook/README.md)" README.md || complain "README.md does not link to $handbook/README.md"
((count)) || complain "found no link: the search is broken"

((failures == 0)) && echo "$count links and paths, each with its file"
exit $((failures > 0))
