# Prints FILE:LINE:CITATION for each rule, decision, catalogue entry and document that a comment, a docstring or a page cites:
#
#     a rule       1.4, of a section N.M of the handbook's chapters
#     a decision   D6, an entry of the catalogue  A1, M1, S1, X1
#     a document   interfaces.md, and with "section 3" behind it interfaces.md#3
#     a heading    autocast.md#policies=1.4, which is how code and tests cite a rule or decision: "autocast.md#policies (1.4)"
#                  or "(autocast.md#policies, 1.4)"; !1.4 where the page is not named
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
    earlier = ""
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

# Cites a rule or decision with this text before it. `joined`: it follows a citation by a comma or "and", and is of its page.
function cite_number(number, before, joined,    whole, heading) {
    cite(number)
    if (kind == "page" || joined) return
    whole = earlier " " before
    if (match(whole, /[a-z-]+\.md#[A-Za-z0-9_-]+(,|[ \/!<#*]+\()[ \/!<#*]*$/)) {
        heading = substr(whole, RSTART, RLENGTH)
        sub(/(,|[ \/!<#*]+\()[ \/!<#*]*$/, "", heading)
        cite(heading "=" number)
    } else {
        cite("!" number)
    }
}

function is_measurement(rest) {
    return rest ~ /^ ?(%|ms|us|ns|s[ ,.;)]|GB|MB|KB|GiB|MiB|KiB|TB|GHz|times|million|bounds|elements)/
}

# Whether a number with this text before and behind it is a citation.
function is_rule(before, rest) {
    if (is_measurement(rest)) return 0
    if (before ~ /(^|[^A-Za-z0-9_])\($/ && rest ~ /^(\)|, (and )?[1-5]\.[1-9]|, (and|point)| and [1-5]\.[1-9])/) return 1
    if (before ~ /(\.md,?|handbook,?|\.md#[A-Za-z0-9_-]+,) $/) return 1
    if (kind == "page") return 0
    if (before ~ /^[\/!< ]*$/ && rest ~ /^(:|\)|,|'s| of )/) return 1
    return before ~ /(^|[ (])([Oo]f|[Bb]y|[Aa]s|[Ii]n|[Ww]here|[Uu]nder|[Ss]ee|[Rr]ule|[Rr]ules|[Rr]ecipe|[Ss]ection) $/
}

function find_rules(text,    before, number, rest, last, next_char, cited, joined, all) {
    before = all = ""
    while (match(text, /[1-5]\.[1-9][0-9]?/)) {
        all = all substr(text, 1, RSTART - 1)
        before = before substr(text, 1, RSTART - 1)
        number = substr(text, RSTART, RLENGTH)
        rest = substr(text, RSTART + RLENGTH)
        last = substr(before, length(before))
        next_char = substr(rest, 1, 1)
        if (last ~ /[0-9A-Za-z_.+-]/ || next_char ~ /[0-9A-Za-z_%]/ || rest ~ /^\.[0-9]/ || number ~ /\.[2-9][0-9]$/) {
            cited = 0
        } else {
            joined = cited && before ~ /^\)?(, | and |, and | or | to )\(?$/ && !is_measurement(rest)
            cited = joined || is_rule(before, rest)
            if (cited) cite_number(number, all, joined)
        }
        all = all number
        # What joins the next number to a citation stands alone behind it.
        before = cited ? "" : before number
        text = rest
    }
}

function find_entries(text,    all, last, next_char, number) {
    all = ""
    while (match(text, /[ADMSX][1-9][0-9]?/)) {
        last = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
        next_char = substr(text, RSTART + RLENGTH, 1)
        number = substr(text, RSTART, RLENGTH)
        all = all substr(text, 1, RSTART - 1)
        text = substr(text, RSTART + RLENGTH)
        if (last !~ /[0-9A-Za-z_.$-]/ && next_char !~ /[0-9A-Za-z_-]/) {
            if (number ~ /^D/) cite_number(number, all, all ~ /D[0-9]+(,| and) $/)
            else cite(number)
        }
        all = all number
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
    if (text == "") {
        earlier = ""
        next
    }
    find_rules(text)
    find_entries(text)
    if (kind != "page") find_documents(text)
    earlier = text
}
