# Prints FILE:LINE:CITATION for each rule, decision, catalogue entry and document that a comment, a docstring or a page cites:
#
#     a rule       1.4, of a section N.M of the handbook's chapters
#     a decision   D6, an entry of the catalogue  A1, M1, S1, X1
#     a document   interfaces.md, and with "section 3" behind it interfaces.md#3
#
# A number N.M is a citation where it stands alone in brackets, begins a comment, follows a word such as "of" or "recipe" or
# the name of a document, or is joined to one by a comma or "and". Otherwise, and before a unit, it is a measurement.

function begins_file() {
    name = FILENAME
    sub(/^.*\//, "", name)
    kind = "other"
    if (name ~ /\.(h|cpp|cu|cuh|inc|in)$/) kind = "c"
    if (name ~ /\.py$/) kind = "python"
    if (name ~ /\.md$/) kind = "page"
    if (name ~ /\.(sh|awk|cmake)$/ || name == "CMakeLists.txt") kind = "hash"
    quoted = 0
}

# Of a line the part that people read; "" if none.
function prose(line,    at, was, marks) {
    if (kind == "page") return line
    if (kind == "c") {
        at = index(line, "//")
        return at ? substr(line, at + 2) : ""
    }
    if (kind == "python") {
        was = quoted
        marks = gsub(/"""/, "", line)
        if (marks % 2) quoted = !quoted
        if (was || marks) return line
    }
    at = index(line, "#")
    return at ? substr(line, at + 1) : ""
}

function cite(what) {
    printf "%s:%d:%s\n", FILENAME, FNR, what
}

function is_measurement(rest) {
    return rest ~ /^ ?(%|ms|us|ns|s[ ,.;)]|GB|MB|KB|GiB|MiB|KiB|TB|GHz|times|million|bounds|elements)/
}

# Whether a number with this text before and behind it is a citation.
function is_rule(before, rest) {
    if (is_measurement(rest)) return 0
    if (before ~ /(^|[^A-Za-z0-9_])\($/ && rest ~ /^(\)|, (and )?[1-5]\.[1-9]|, (and|point)| and [1-5]\.[1-9])/) return 1
    if (before ~ /(\.md,?|handbook,?) $/) return 1
    if (kind == "page") return 0
    if (before ~ /^[\/!< ]*$/ && rest ~ /^(:|\)|,|'s| of )/) return 1
    return before ~ /(^|[ (])([Oo]f|[Bb]y|[Aa]s|[Ii]n|[Ww]here|[Uu]nder|[Ss]ee|[Rr]ule|[Rr]ules|[Rr]ecipe|[Ss]ection) $/
}

function find_rules(text,    before, number, rest, last, next_char, cited) {
    before = ""
    while (match(text, /[1-5]\.[1-9][0-9]?/)) {
        before = before substr(text, 1, RSTART - 1)
        number = substr(text, RSTART, RLENGTH)
        rest = substr(text, RSTART + RLENGTH)
        last = substr(before, length(before))
        next_char = substr(rest, 1, 1)
        if (last ~ /[0-9A-Za-z_.+-]/ || next_char ~ /[0-9A-Za-z_%]/ || rest ~ /^\.[0-9]/ || number ~ /\.[2-9][0-9]$/) {
            cited = 0
        } else {
            cited = (cited && before ~ /^(, | and |, and | or | to )$/ && !is_measurement(rest)) || is_rule(before, rest)
            if (cited) cite(number)
        }
        # What joins the next number to a citation stands alone behind it.
        before = cited ? "" : before number
        text = rest
    }
}

function find_entries(text,    last, next_char) {
    while (match(text, /[ADMSX][1-9][0-9]?/)) {
        last = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
        next_char = substr(text, RSTART + RLENGTH, 1)
        if (last !~ /[0-9A-Za-z_.$-]/ && next_char !~ /[0-9A-Za-z_-]/) cite(substr(text, RSTART, RLENGTH))
        text = substr(text, RSTART + RLENGTH)
    }
}

function find_documents(text,    document, last) {
    while (match(text, /[A-Za-z][A-Za-z_-]*\.md/)) {
        document = substr(text, RSTART, RLENGTH)
        last = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
        text = substr(text, RSTART + RLENGTH)
        if (last ~ /[.*]/) continue  # "*.lesson.md"
        cite(document)
        if (match(text, /^, section [1-9]/)) cite(document "#" substr(text, RLENGTH, 1))
    }
}

FNR == 1 { begins_file() }
{
    text = prose($0)
    if (text == "") next
    find_rules(text)
    find_entries(text)
    if (kind != "page") find_documents(text)
}
