#!/usr/bin/env bash
# tests/house_counts.sh [ROOT]: how the house is laid out, in figures, for a comparison of two commits. ROOT: another checkout.
#
# Rooms are the folders of engine/src. An arrow leads from a room to one whose headers it includes; a public header counts as
# the room that it or, in a layout without rooms, the source of its name stands in. The floor of a room is 1 more than that of
# the highest room it includes; of rooms that include each other neither counts for the other.
set -uo pipefail
cd "${1:-$(dirname "${BASH_SOURCE[0]}")/..}" || exit 2
parts=(app ui engine kernels)

list() { find "$@" \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' \) -type f | LC_ALL=C sort; }

rooms() {
    # FILE:HEADER of every include in the engine.
    list engine/src engine/include | xargs grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]+"' |
        sed -E 's/:[^"]*"/ /; s/"$//' |
        awk -v sources="$(find engine/src -name '*.cpp')" -v headers="$(find engine/src engine/include -name '*.h' -o -name '*.inc')" '
        function room_of(path,    parts_, count, name) {
            count = split(path, parts_, "/")
            if (path ~ /^engine\/src\//) return parts_[3]
            if (count > 4) return parts_[4]
            name = parts_[count]
            sub(/\.h$/, "", name)
            return home[name]
        }
        BEGIN {
            count = split(sources, list_, "\n")
            for (i = 1; i <= count; ++i) {
                split(list_[i], p, "/")
                name = list_[i]
                sub(/^.*\//, "", name)
                sub(/\.cpp$/, "", name)
                home[name] = name in home && home[name] != p[3] ? "" : p[3]
                is_room[p[3]] = 1
            }
            count = split(headers, list_, "\n")
            for (i = 1; i <= count; ++i) there[list_[i]] = 1
        }
        {
            header = "engine/src/" $2
            if (!(header in there)) header = "engine/include/" $2
            if (!(header in there)) next
            a = room_of($1)
            b = room_of(header)
            if (a == "" || b == "" || a == b) next
            if (!((a, b) in arrow)) ++arrows
            arrow[a, b] = reaches[a, b] = 1
        }
        function floor_of(room,    other, highest, at) {
            if (room in floor) return floor[room]
            for (other in is_room)
                if ((room, other) in arrow && !((other, room) in reaches)) {
                    at = floor_of(other)
                    if (at > highest) highest = at
                }
            return floor[room] = highest + 1
        }
        END {
            # Directly opposed arrows are the named pairs; what remains in a circle without them is one.
            for (a in is_room) for (b in is_room)
                if ((a, b) in arrow && (b, a) in arrow && a < b) pairs = pairs " " a "-" b
            for (b in is_room) for (a in is_room) if ((a, b) in reaches)
                for (c in is_room) if ((b, c) in reaches) reaches[a, c] = 1
            for (a in is_room) { ++count_; if (floor_of(a) > top) top = floor[a] }
            printf "rooms of the engine            %6d\narrows between them            %6d\nfloors                         %6d\n", count_, arrows, top
            print "rooms that include each other " (pairs ? pairs : " none")
        }'
}

printf '%-8s %6s %8s\n' part files lines
for part in "${parts[@]}" tests; do
    mapfile -t files < <(list "$part")
    printf '%-8s %6d %8d\n' "$part" "${#files[@]}" "$(cat "${files[@]}" | wc -l)"
done
mapfile -t production < <(list "${parts[@]}")
echo
rooms
printf 'production files               %6d\n' "${#production[@]}"
printf 'sources of at most 40 lines    %6d\n' "$(wc -l "${production[@]}" | awk '$2 ~ /\.(cpp|cu)$/ && $1 <= 40' | wc -l)"

# Counts the production files that include each private header.
grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"[^"]+"' "${production[@]}" | sed -E 's/:[^"]*"/ /; s/"$//' |
    awk -v headers="$(printf '%s\n' "${production[@]}" | grep -E '\.(h|cuh)$' | grep -v /include/)" '
    BEGIN { count = split(headers, list_, "\n"); for (i = 1; i <= count; ++i) there[list_[i]] = 1 }
    {
        folder = $1
        sub(/[^\/]*$/, "", folder)
        split($1, p, "/")
        split(folder $2 " engine/src/" $2 " ui/src/" $2 " kernels/" $2 " app/" $2, tries, " ")
        for (i = 1; i <= 5; ++i) if (tries[i] in there) { ++readers[tries[i]]; break }
    }
    END {
        for (header in there) { if (readers[header] == 1) ++one; else if (!readers[header]) ++none }
        printf "private headers                %6d\n    with one reader            %6d\n    that only tests read       %6d\n", count, one, none
    }'
printf 'functions called ..._of        %6d\n' "$(cat "${production[@]}" | grep -oE '\b[a-z][a-z0-9_]*_of\(' | sort -u | wc -l)"
printf 'comments that open with Of, What, The same, Those %d\n' \
    "$(cat "${production[@]}" | grep -cE '//[/!]?<? *(Of|What|The same|Those)\b')"
printf 'phrases that the test refuses  %6d\n' "$(tests/handbook/check_phrases.sh . 2> /dev/null | grep -cE '^[^ ]+:[0-9]+: ')"
