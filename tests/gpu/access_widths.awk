# Reads what cuobjdump -sass prints of one object: prints the kernels in which four or more neighbouring values in global
# memory are stored, or loaded, one after the other, each narrower than 16 bytes, and fails if there are any.
#
# A run is made of accesses of one kind and width by one register, whose offsets follow each other; other instructions
# may lie between them. object: for the message. allowed: lines of a pattern, a space and the reason.

BEGIN {
    most = split(allowed, lines, "\n")
    for (i = 1; i <= most; ++i) {
        space = index(lines[i], " ")
        if (space > 0) reasons[substr(lines[i], 1, space - 1)] = substr(lines[i], space + 1)
    }
}

/Function : / {
    finish()
    name = $3
}

/^[ \t]*\/\*[0-9a-f]+\*\/.*(STG|LDG)\./ {
    match($0, /(STG|LDG)[.A-Z0-9]*/)
    operation = substr($0, RSTART, RLENGTH)
    kind = substr(operation, 1, 3)
    if (!match($0, /\[R[0-9]+[^]]*\]/)) next
    place = substr($0, RSTART + 1, RLENGTH - 2)
    bytes = width(operation)
    base = place
    sub(/[.+].*/, "", base)
    offset = 0
    if (match(place, /\+-?0x[0-9a-f]+$/)) offset = number(substr(place, RSTART + 1))
    key = bytes " " base
    if (key != last[kind] || bytes >= 16) judge(kind)
    last[kind] = key
    if (bytes < 16) {
        at[kind, ++count[kind]] = offset
        size[kind] = bytes
    }
}

END {
    finish()
    exit found > 0
}

function width(operation) {
    if (operation ~ /\.128/) return 16
    if (operation ~ /\.64/) return 8
    if (operation ~ /\.[US]16/) return 2
    if (operation ~ /\.[US]8/) return 1
    return 4
}

function number(text,    sign, value, i) {
    sign = sub(/^-/, "", text) ? -1 : 1
    value = 0
    for (i = 3; i <= length(text); ++i) value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
    return sign * value
}

# The longest row of neighbours among the accesses since the last change of register or width.
function judge(kind,    n, i, j, moved, run, best) {
    n = count[kind]
    count[kind] = 0
    if (n < 4) return
    for (i = 2; i <= n; ++i) {
        moved = at[kind, i]
        for (j = i - 1; j >= 1 && at[kind, j] > moved; --j) at[kind, j + 1] = at[kind, j]
        at[kind, j + 1] = moved
    }
    run = best = 1
    for (i = 2; i <= n; ++i) {
        if (at[kind, i] - at[kind, i - 1] == size[kind])
            ++run
        else if (at[kind, i] != at[kind, i - 1])
            run = 1
        if (run > best) best = run
    }
    if (best < 4) return
    for (pattern in reasons)
        if (object " " name ~ pattern) return
    printf "%s: %s %s %d neighbours of %d bytes one by one\n", object, name, kind == "STG" ? "stores" : "loads", best,
        size[kind]
    ++found
}

function finish() {
    judge("STG")
    judge("LDG")
    last["STG"] = last["LDG"] = ""
}
