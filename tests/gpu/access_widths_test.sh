#!/usr/bin/env bash
# Accesses that access_widths.sh finds, and those that it leaves alone, on machine code as cuobjdump prints it.
set -euo pipefail
shopt -s nullglob
here=$(dirname "$(readlink -f "$0")")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0

# The tool's stand-in: an object holds what would be printed of it.
cat > "$folder/cuobjdump" <<'TOOL'
#!/usr/bin/env bash
cat "${@: -1}"
TOOL
chmod +x "$folder/cuobjdump"
export CUOBJDUMP=$folder/cuobjdump

# An object of one kernel with these instructions.
object() {
    local name=$1 address=0 instruction
    shift
    rm -f "$folder"/*.cu.o
    {
        printf '\t\tFunction : %s\n' "$name"
        for instruction in "$@"; do
            printf '        /*%04x*/                   %s ;      /* 0x0000000000000000 */\n' $address "$instruction"
            address=$((address + 16))
        done
    } > "$folder/some.cu.o"
}
expect() {
    local wanted=$1 what=$2 code=0
    "$here/access_widths.sh" 90 "$folder"/other.cpp.o "$folder"/*.cu.o > "$folder/said" 2>&1 || code=$?
    if ((code != wanted)); then
        echo "$what: exit code $code, not $wanted; it said:"
        cat "$folder/said"
        failures=$((failures + 1))
    fi
}
narrow() { # kind: four neighbours of 2 bytes
    printf '%s\n' "$1.E.U16 desc[UR4][R2.64+0x4], R5" "$1.E.U16 desc[UR4][R2.64], R4" \
        "$1.E.U16 desc[UR4][R2.64+0x2], R6" "$1.E.U16 desc[UR4][R2.64+0x6], R7"
}

mapfile -t stores < <(narrow STG)
object some_kernel "${stores[@]}"
expect 1 "four stores of 2 bytes, in any order"
grep -q 'some.cu: some_kernel stores 4 neighbours of 2 bytes' "$folder/said" || { echo "not named:"; cat "$folder/said"; failures=$((failures + 1)); }
object some_kernel "${stores[@]:0:3}"
expect 0 "three"
object some_kernel "${stores[@]:0:2}" "MOV R2, R8" "${stores[2]}" "BRA 0x40" "${stores[3]}"
expect 1 "others between them"
object some_kernel "${stores[@]:0:3}" "STG.E.U16 desc[UR4][R8.64+0x6], R7"
expect 0 "another register"
object some_kernel "${stores[@]:0:3}" "STG.E.U16 desc[UR4][R2.64+0x16], R7"
expect 0 "no neighbour"
object some_kernel "STG.E.128 desc[UR4][R2.64], R4" "STG.E.128 desc[UR4][R2.64+0x10], R8" \
    "STG.E.128 desc[UR4][R2.64+0x20], R12" "STG.E.128 desc[UR4][R2.64+0x30], R16"
expect 0 "stores of 16 bytes"
mapfile -t loads < <(narrow LDG)
object some_kernel "${loads[@]}"
expect 1 "four loads"
object _Zxxfold_kernelxx "${loads[@]}"
expect 0 "a kernel that may"
object _Zxxgradient_sums_kernelIfLi4Exx "${loads[@]}"
expect 1 "one that has a name like it"
object some_kernel "${loads[@]:0:2}" "${stores[@]:0:2}"
expect 0 "two of each"
rm "$folder"/some.cu.o
expect 1 "no objects at all"
object some_kernel "${stores[@]}"
mv "$folder/cuobjdump" "$folder/whole"
printf '%s\n' '#!/bin/sh' "echo \"cuobjdump fatal   : Could not find executable file 'nvdisasm'\" >&2" 'exit 255' > "$folder/cuobjdump"
chmod +x "$folder/cuobjdump"
expect 77 "no disassembler"
mv "$folder/whole" "$folder/cuobjdump"
CUOBJDUMP=$folder/missing PATH=/usr/bin:/bin CUDA_HOME=$folder HOME=$folder XDG_DATA_HOME=$folder VIRTUAL_ENV=$folder \
    bash -c "command -v cuobjdump > /dev/null || [[ -x /usr/local/cuda/bin/cuobjdump ]]" || {
    export CUOBJDUMP=$folder/missing CUDA_HOME=$folder XDG_DATA_HOME=$folder VIRTUAL_ENV=$folder
    expect 77 "no tool"
}
((failures == 0)) && echo "found and left alone as it should"
((failures == 0))
