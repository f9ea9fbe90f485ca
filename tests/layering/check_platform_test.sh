#!/usr/bin/env bash
# check_platform_test.sh: the check of POSIX calls passes a good tree, and refuses a source that is not listed and a listed one
# that calls nothing.
set -u
checker=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/check_platform.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

make_good_tree() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{app,kernels,ui,engine/src/{io/file,base/platform,runs},resources/handbook}
    echo '#include <unistd.h>' | tee "$tree"/engine/src/{io/file/lock,base/platform/user,runs/store}.cpp > "$tree/app/main.cpp"
    echo '#include <vector>' > "$tree/ui/window.cpp"
    # shellcheck disable=SC2016  # backticks of the page
    printf '| source | calls |\n| --- | --- |\n| `app/main.cpp`, `engine/src/runs/store.cpp` | `access` |\n' \
        > "$tree/resources/handbook/port-to-windows.md"
}

expect_refused() {  # TEXT, of the tree as it is
    local output
    if output=$("$checker" "$tree"); then
        echo "FAILED: not refused: $1"
        failures=$((failures + 1))
    elif [[ $output != *"$1"* ]]; then
        echo "FAILED: $1: refused for another reason: $output"
        failures=$((failures + 1))
    fi
}

make_good_tree
"$checker" "$tree" || { echo "FAILED: a good tree is refused"; failures=$((failures + 1)); }

make_good_tree
echo '#include <sys/stat.h>' > "$tree/ui/window.cpp"
expect_refused 'ui/window.cpp includes a POSIX header'

make_good_tree
echo '#include <vector>' > "$tree/app/main.cpp"
expect_refused 'names app/main.cpp, which includes no POSIX header'

make_good_tree
rm "$tree/resources/handbook/port-to-windows.md"
expect_refused 'names no source'

exit $((failures > 0))
