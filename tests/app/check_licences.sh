#!/usr/bin/env bash
# check_licences.sh PROGRAM ROOT: resources/licences.txt names every library that PROGRAM is linked with, directly or through
# a library of its own build ("Files:"), every library name that the source opens while it runs ("Opened:"), every static one
# that CMake links, and every foreign header that the source includes ("Headers:").
set -uo pipefail
program=${1:?usage: check_licences.sh PROGRAM ROOT}
root=${2:?usage: check_licences.sh PROGRAM ROOT}
list=$root/resources/licences.txt
failures=0
count=0

# names KEY: the words of the lines that begin with it, one a line.
names() { sed -nE "s/^$1: //p" "$list" | tr -s ' ,' '\n'; }

# check_listed WHAT KEY NAME
check_listed() {
    count=$((count + 1))
    names "$2" | grep -xF -- "$3" > /dev/null && return
    echo "$1 $3: resources/licences.txt has no part with it in a line \"$2:\""
    failures=$((failures + 1))
}

# The stems ("libz" of libz.so.1) of what FILE needs; of libraries of the same build what they need in turn.
declare -A seen
needed() {
    local name own
    while read -r name; do
        [[ -n ${seen[$name]:-} ]] && continue
        seen[$name]=1
        own=$(find "$build" -name "$name" -not -path '*/tests/*' -print -quit)
        if [[ -n $own ]]; then needed "$own"; else linked+=("${name%%.so*}"); fi
    done < <(readelf -d "$1" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]$/\1/p')
}
build=$(dirname "$program")
linked=()
needed "$program"
((${#linked[@]} > 2)) || { echo "found no libraries of $program: the search is broken"; exit 1; }
for stem in "${linked[@]}"; do check_listed "linked library" Files "${stem%%.*}"; done

folders=("$root"/{app,engine,kernels,ui})
sources() { grep -rhE "$1" "${folders[@]}" --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' --include='*.inc'; }
static=$(grep -rhoE '[A-Za-z]+::[a-z]+_static' "${folders[@]}" --include=CMakeLists.txt | sed 's/.*:://' | sort -u)
for stem in $static; do check_listed "static library" Files "lib$stem"; done
opened=$(sources '"[^"]*lib[A-Za-z0-9_]+\.so' | grep -oE 'lib[A-Za-z0-9_]+\.so' | sed 's/\.so//' | sort -u)
[[ -n $opened ]] || { echo "found no name of a library that is opened: the search is broken"; exit 1; }
for stem in $opened; do check_listed "opened library" Opened "$stem"; done
# The names above are complete only while libraries are opened in these places.
while read -r file; do
    case ${file#"$root"/} in kernels/cuda/library.cpp | kernels/shared/power_meters.cpp | engine/src/parallel/mpi_api.cpp) continue ;; esac
    echo "$file opens libraries: name them in resources/licences.txt, and this file here"
    failures=$((failures + 1))
done < <(grep -rlE '\bdlm?open\(|\bQLibrary\b|\bQPluginLoader\b' "${folders[@]}" --include='*.h' --include='*.cpp' --include='*.cu')

# C and POSIX headers belong to the GNU C library; those in quotes and those without "." or "/" to the project, C++ or Qt.
system='^((sys|net|arpa|netinet|linux|asm|gnu)/.*|unistd|fcntl|stdlib|stdint|string|math|dlfcn|poll|pwd|sched|signal|spawn|errno|pthread|time|stdio|malloc)(\.h)?$'
headers=$(sources '^ *# *include <[^>]*[./]' | sed -E 's/.*<//; s/>.*//' | grep -vE "$system" | sed 's,/.*,,' | sort -u)
for header in $headers; do
    check_listed "header" Headers "$header"
done

((failures == 0)) && echo "$count libraries and headers, each with its licence"
exit $((failures > 0))
