#!/usr/bin/env bash
# check_reading.sh ROOT [LIBRARY]: every kernel of kernels/cuda has its row in tests/gpu/reading/*.md, every row its
# kernel, and every .cu file a place in tests/gpu/UNVERIFIED.md. A row begins "| `kernel`, `kernel` (file.cu) |",
# or with several such groups.
#
# Kernels are looked for in the source, and in LIBRARY, if it was built with CUDA, by the stubs that nvcc makes for them:
# what a macro hides from the first look the second one sees.
set -uo pipefail
root=${1:?usage: check_reading.sh ROOT [LIBRARY]}
library=${2:-}
failures=0

complain() {
    echo "$*"
    failures=$((failures + 1))
}

# The file on one line, without comments.
code_of() {
    sed 's://.*$::' "$1" | tr '\n' ' ' | sed 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/: :g'
}

names_of() {
    code_of "$1" |
        grep -oE '__global__ +((static|inline) +)*void +(__launch_bounds__ *\([^)]*\) *)?[A-Za-z_][A-Za-z_0-9]* *\(' |
        sed -E 's/ *\($//; s/.* //'
}

in_source() {
    local file name
    for file in "$root"/kernels/cuda/*.cu "$root"/kernels/cuda/*.cuh; do
        [[ -e $file ]] || continue
        for name in $(names_of "$file"); do echo "$(basename "$file") $name"; done
    done | sort -u
}

in_rows() {
    grep -hE '^\| `' "$root"/tests/gpu/reading/*.md 2> /dev/null | cut -d'|' -f2 | while read -r cell; do
        local group file name
        while IFS= read -r group; do
            file=$(sed -nE 's/.*\(([a-z0-9_]+\.cuh?)$/\1/p' <<< "$group")
            for name in $(grep -oE '`[A-Za-z_0-9]+`' <<< "$group" | tr -d '`'); do echo "${file:-?} $name"; done
        done < <(tr ')' '\n' <<< "$cell")
    done | sort
}

# By the stubs of the host's half, N letters of "__device_stub__" and the kernel's mangled name without its underscore:
# _ZLN__device_stub__Z..., or within the name of a variable of the stub, _ZZLN... and _ZGVZLN...
in_library() {
    nm "$library" 2> /dev/null | awk '
        { name = $3; sub(/^_Z(GVZ|Z)/, "_Z", name) }
        name ~ /^_ZL?[0-9]+__device_stub__/ {
            sub(/^_ZL?/, "", name)
            length_of_name = name + 0
            sub(/^[0-9]+/, "", name)
            name = substr(name, 1, length_of_name)
            sub(/^__device_stub__/, "_", name)
            print name
        }' | sort -u | c++filt |
        sed -E 's/\(anonymous namespace\)/anonymous/; s/<.*//; s/\(.*//; s/^(void|static) //; s/.*:://' | sort -u
}

for file in "$root"/kernels/cuda/*.cu "$root"/kernels/cuda/*.cuh; do
    [[ -e $file ]] || continue
    said=$(code_of "$file" | grep -o '__global__' | wc -l)
    read_here=$(names_of "$file" | wc -l)
    ((said == read_here)) ||
        complain "$(basename "$file"): $said times __global__, but $read_here kernels: write them out, not by a macro"
done
while read -r file; do
    complain "$file: a __global__ outside of kernels/cuda"
done < <(grep -rlw __global__ "$root"/kernels "$root"/engine "$root"/app 2> /dev/null |
    grep -vE '/kernels/cuda/[a-z0-9_]+\.cuh?$')

kernels=$(in_source)
rows=$(in_rows)
[[ -n $kernels ]] || complain "no kernels in $root/kernels/cuda"
while read -r row; do
    [[ -n $row ]] && complain "tests/gpu/reading: more than one row of ${row#* } (${row% *})"
done < <(uniq -d <<< "$rows")
rows=$(sort -u <<< "$rows")
while read -r file name; do
    [[ -n $name ]] && complain "$file: $name has no row in tests/gpu/reading"
done < <(comm -23 <(echo "$kernels") <(echo "$rows"))
while read -r file name; do
    [[ -n $name ]] && complain "tests/gpu/reading: a row of $name ($file), which is not there"
done < <(comm -13 <(echo "$kernels") <(echo "$rows"))

compiled=
if [[ -n $library ]]; then
    compiled=$(in_library)
    [[ -n $compiled ]] || complain "$library: no kernels in it"
    while read -r name; do
        [[ -n $name ]] && complain "$(basename "$library"): $name is a kernel that the source does not show"
    done < <(comm -23 <(echo "$compiled") <(cut -d' ' -f2 <<< "$kernels" | sort -u))
fi

# A kernel that launch_early() starts (kernels/cuda/early_launch.cuh) may run beside the kernel before it until it waits.
all_code=$(for file in "$root"/kernels/cuda/*.cu "$root"/kernels/cuda/*.cuh; do
    [[ -e $file && $(basename "$file") != early_launch.cuh ]] && code_of "$file"
done)
for name in $(grep -oE '\blaunch_early\([^;]*;' <<< "$all_code" | grep -oE '\b[a-z_]+_kernel\b' | sort -u); do
    definition=$(grep -oE "\bvoid +$name *\([^{;]*\{ *[^;]*;" <<< "$all_code" | sed -n 1p)
    [[ $definition =~ \{\ *wait_for_earlier_kernels\(\)\;$ ]] ||
        complain "$name is launched early, but does not wait for earlier kernels in its first statement"
    [[ $definition != *__restrict__* ]] ||
        complain "$name is launched early and has a parameter that is __restrict__: it may be read before the wait"
done

for file in "$root"/kernels/cuda/*.cu; do
    [[ -e $file ]] || continue
    grep -qwF "$(basename "$file")" "$root/tests/gpu/UNVERIFIED.md" ||
        complain "$(basename "$file") is not in tests/gpu/UNVERIFIED.md"
done
for file in $(grep -oE '[a-z0-9_]+\.cu\b' "$root/tests/gpu/UNVERIFIED.md" | sort -u); do
    [[ -e $root/kernels/cuda/$file ]] || complain "tests/gpu/UNVERIFIED.md names $file, which is not there"
done

echo "$(grep -c . <<< "$kernels") kernels in the source, $(grep -c . <<< "$rows") in rows, $(grep -c . <<< "$compiled") names in the library"
((failures == 0))
