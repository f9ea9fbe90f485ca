#!/usr/bin/env bash
# list_test.sh: the list names where a test asserts, and refuses entries whose test asserts nothing, and tests and notes of
# entries that do not exist.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

make_tree() {  # BODY of the test of A1, the tests' only entry without a note
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/tests/{catalogue,engine,support} "$tree/resources/handbook"
    cp "$here"/{list.sh,assertions.awk} "$tree/tests/catalogue/"
    for range in A:25 M:9 S:27 X:16; do
        for ((i = 1; i <= ${range#*:}; ++i)); do echo "${range%:*}$i|No test."; done
    done > "$tree/entries"
    grep -v '^A1|' "$tree/entries" > "$tree/tests/catalogue/notes.txt"
    sed -E 's/(.*)\|.*/### \1\n\nIs\nsound.\n/' "$tree/entries" > "$tree/resources/handbook/catalogue.md"
    cat > "$tree/tests/support/support.h" <<-'END'
	#pragma once
	inline void expect_sound(int x) {
	    EXPECT_EQ(x, 1);
	}
	inline void print(int x) { std::cout << x; }
	END
    echo 'void expect_elsewhere() { EXPECT_TRUE(f()); }' > "$tree/tests/support/elsewhere.h"
    cat > "$tree/tests/engine/region_test.cpp" <<-END
	#include "support.h"
	namespace engine {
	namespace {
	void through() { expect_sound(2); }
	TEST(Region, A1IsSound) {
	    $1
	}
	TEST(Region, OfNoEntry) { EXPECT_TRUE(f()); }
	}  // namespace
	}  // namespace engine
	END
}

expect_listed() {  # BODY TEXT
    make_tree "$1"
    local output
    output=$("$tree/tests/catalogue/list.sh" "$tree" lines 2>&1) || fail "refused: $1: $output"
    [[ $output == *"| A1 | Is sound. | $2 |"* ]] || fail "$1: not listed as $2: $(grep '| A1 ' <<< "$output")"
}

expect_refused() {  # BODY
    make_tree "$1"
    local output
    output=$("$tree/tests/catalogue/list.sh" "$tree" 2>&1 > "$tree/page") && fail "not refused: $1"
    [[ $output == *"Region.A1IsSound asserts nothing"* ]] || fail "$1: refused for another reason: $output"
}

test='`Region.A1IsSound` tests/engine/region_test.cpp'
expect_listed 'ASSERT_EQ(f(), 1);' "$test:6"
expect_listed $'const char c = \'{\';\n    EXPECT_THAT(f("}"), 1);' "$test:7"
expect_listed $'for (int i = 0; i < 3; ++i) {\n        run([&] { EXPECT_EQ(i, 1); });\n    }' "$test:7"
expect_listed $'const auto text = R"({"x": [1}\n}  ")";\n    FAIL();' "$test:8"
expect_listed 'expect_sound(1);' "$test:6, \`expect_sound\` tests/support/support.h:3"
expect_listed 'through();' "$test:6, \`through\` tests/support/support.h:3"

expect_refused 'f();'
expect_refused '// EXPECT_EQ(f(), 1);'
expect_refused 'f("EXPECT_EQ(f(), 1)");'
expect_refused 'f(R"(EXPECT_EQ(f(), 1))");'
expect_refused 'print(1);'
expect_refused 'expect_elsewhere();'
expect_refused 'const int expect_sound = 1;'

make_tree 'EXPECT_EQ(f(), 1);'
[[ $("$tree/tests/catalogue/list.sh" "$tree") == *"| A1 | Is sound. | $test |"* ]] || fail "lines stand where none are asked for"
sed -i '/^A2|/d' "$tree/tests/catalogue/notes.txt"
[[ $("$tree/tests/catalogue/list.sh" "$tree" 2>&1) == *'A2 has no test, and no note says why'* ]] ||
    fail "an entry without test and note is not refused"

make_tree 'EXPECT_EQ(f(), 1);'
sed -i '/^### A3$/d' "$tree/resources/handbook/catalogue.md"
output=$("$tree/tests/catalogue/list.sh" "$tree" 2>&1) && fail "an entry without a sentence is not refused"
[[ $output == *'A3: resources/handbook/catalogue.md does not say what it requires'* ]] ||
    fail "an entry without a sentence: refused for another reason"

for number in A0 A26 M10 S28 X17; do
    make_tree 'EXPECT_EQ(f(), 1);'
    sed -i "s/A1IsSound/A1${number}IsSound/" "$tree/tests/engine/region_test.cpp"
    output=$("$tree/tests/catalogue/list.sh" "$tree" 2>&1) && fail "not refused: a test of $number"
    [[ $output == *"$number is no entry, but tests are named for it: "*"A1${number}IsSound"* ]] ||
        fail "a test of $number: refused for another reason"

    make_tree 'EXPECT_EQ(f(), 1);'
    echo "$number|A note." >> "$tree/tests/catalogue/notes.txt"
    output=$("$tree/tests/catalogue/list.sh" "$tree" 2>&1) && fail "not refused: a note on $number"
    [[ $output == *"$number is no entry, but tests/catalogue/notes.txt has a note on it"* ]] ||
        fail "a note on $number: refused for another reason"
done

((failures == 0)) && echo "all cases as expected"
exit $((failures > 0))
