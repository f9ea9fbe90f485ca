# assertions.awk FILE...: for each test of these C++ files whose name begins with an entry's number, a line
#     suite name file line helper helper_file helper_line
# with the line of its body's first assertion. If it asserts by calling a function, that call's line, and the function's name
# and first assertion, otherwise "- - -". If it asserts nothing, line is 0. Functions are looked for in the test's own file,
# the headers of `tests` that it includes, and the sources beside those.

function is_assertion(word) {
    return word ~ /^(EXPECT|ASSERT)_[A-Z]/ || word ~ /^(GTEST_)?(ADD_FAILURE|FAIL)(_AT)?$/
}

# The line without its comments and the contents of its strings.
function stripped(line,    at) {
    if (raw_end != "") {
        if (!(at = index(line, raw_end))) return ""
        line = substr(line, at + length(raw_end))
        raw_end = ""
    }
    while (match(line, /R"[a-z_]*\(/)) {
        raw_end = ")" substr(line, RSTART + 2, RLENGTH - 3) "\""
        at = index(substr(line, RSTART + RLENGTH), raw_end)
        if (!at) return substr(line, 1, RSTART - 1)
        line = substr(line, 1, RSTART - 1) substr(line, RSTART + RLENGTH + at + length(raw_end) - 1)
        raw_end = ""
    }
    gsub(/"([^"\\]|\\.)*"/, "", line)
    gsub(/'([^'\\]|\\.)'/, "", line)
    gsub(/\/\*[^*]*\*\//, "", line)
    sub(/\/\/.*/, "", line)
    return line
}

function new_header() { head = suite = name = "" }

# A `{` outside of functions: of a function or test if the text before it had a name and parentheses, or of anything else.
function open_block() {
    if (head == "" || parens > 0) return
    body = FILENAME SUBSEP head
    if (head ~ /^TEST(_F|_P)?$/ && name != "") {
        body = FILENAME SUBSEP suite "." name
        if (name ~ /^[AMSX][0-9]/) numbered[++numbered_count] = suite " " name " " FILENAME
    }
    defined[body] = 1
    body_depth = depth
}

function token_of_header(word, next_char) {
    if (word == "(") {
        ++parens
    } else if (word == ")") {
        --parens
    } else if (word == ";") {
        if (parens == 0) new_header()
    } else if (parens == 0) {
        if (head == "" && next_char == "(") head = word
    } else if (suite == "") {
        suite = word
    } else if (name == "") {
        name = word
    }
}

function token_of_body(word, next_char) {
    if (is_assertion(word)) {
        if (!(body in asserts)) asserts[body] = FNR
    } else if (next_char ~ /[(<]/ && !((body, word) in call_line)) {
        call_line[body, word] = FNR
        calls[body] = calls[body] " " word
    }
}

function token(word, next_char) {
    if (word == "{") {
        if (body == "") open_block()
        ++depth
    } else if (word == "}") {
        --depth
        if (body != "" && depth == body_depth) body = ""
        if (body == "" && parens == 0) new_header()
    } else if (body == "") {
        token_of_header(word, next_char)
    } else {
        token_of_body(word, next_char)
    }
}

FNR == 1 {
    raw_end = body = ""
    depth = parens = 0
    new_header()
    files[FILENAME] = 1
    file_at[++file_count] = FILENAME
}

/^#include "/ { split($0, quoted, "\""); includes[FILENAME] = includes[FILENAME] " " quoted[2] }
/^#/ || in_directive { in_directive = /\\$/; next }

{
    rest = stripped($0)
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*|[{}();]/)) {
        word = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        token(word, substr(rest, 1, 1))
    }
}

# Adds to the list `seen` the file, the headers of `tests` that it includes, and the sources beside them.
function look_into(file, seen,    names, i, j, n, source) {
    for (i = 1; i <= seen[0]; ++i) {
        if (seen[i] == file) return
    }
    seen[++seen[0]] = file
    source = file
    if (sub(/\.h$/, ".cpp", source) && source in files) look_into(source, seen)
    n = split(includes[file], names, " ")
    for (i = 1; i <= n; ++i) {
        for (j = 1; j <= file_count; ++j) {
            if (ends_with("/" file_at[j], "/" names[i])) look_into(file_at[j], seen)
        }
    }
}

function ends_with(text, end) { return substr(text, length(text) - length(end) + 1) == end }

# "file line" of the first assertion that calling `word` makes; "" if it makes none.
function asserted_by(word, seen, tried,    key, names, i, j, n, place) {
    if (word in tried) return ""
    tried[word] = 1
    for (j = 1; j <= seen[0]; ++j) {
        key = seen[j] SUBSEP word
        if (!(key in defined)) continue
        if (key in asserts) return seen[j] " " asserts[key]
        n = split(calls[key], names, " ")
        for (i = 1; i <= n; ++i) {
            place = asserted_by(names[i], seen, tried)
            if (place != "") return place
        }
    }
    return ""
}

function place_of(file, key,    seen, tried, names, i, n, place) {
    if (key in asserts) return asserts[key] " - - -"
    seen[0] = 0
    look_into(file, seen)
    n = split(calls[key], names, " ")
    for (i = 1; i <= n; ++i) {
        place = asserted_by(names[i], seen, tried)
        if (place != "") return call_line[key, names[i]] " " names[i] " " place
    }
    return "0 - - -"
}

END {
    for (i = 1; i <= numbered_count; ++i) {
        split(numbered[i], of, " ")
        print numbered[i], place_of(of[3], of[3] SUBSEP of[1] "." of[2])
    }
}
