#!/usr/bin/env bash
# check_test.sh: the checks accept a small sound tree, and refuse it with one fault planted in it.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# A handbook with 1.4, D6, S9 and a section of interfaces.md, and code that cites them in every form.
make_tree() {
    rm -rf "${tree:?}"/*
    mkdir -p "$tree"/{engine/src/amp,tests/catalogue,tests/peer,resources/handbook,app,kernels,ui}
    cat > "$tree/README.md" <<-'END'
	[the handbook](resources/handbook/README.md)
	END
    cat > "$tree/resources/handbook/README.md" <<-'END'
	# Handbook
	[rules](rules.md), [policies](rules.md#14-policies), [settings](interfaces.md#1-settings)
	END
    cat > "$tree/resources/handbook/rules.md" <<-'END'
	# 1 Autocast
	## 1.4 Policies
	As 1.4 says, also with 1.5 times the work (1.4).
	## D6 Copies persist
	### S9
	See `amp/cast.h` and [the decision](#d6-copies-persist).
	END
    cat > "$tree/resources/handbook/interfaces.md" <<-'END'
	## 1 Settings
	END
    cat > "$tree/engine/src/amp/cast.h" <<-'END'
	/// rules.md#policies (1.4): which type. Takes 1.5 ms, or 2.5 times as long, in PyTorch 2.6.
	// Policies (rules.md#policies, 1.4, 1.4; rules.md#copies, D6), of rules.md#policies (1.4) and S9.
	/// A row (interfaces.md, section 1).
	double f() { return 4.9; }  // (rules.md#policies, 1.4)
	END
    echo '"""Rules (rules.md#policies, 1.4)."""' > "$tree/tests/peer/rules.py"
    echo '| S9 | `GradScaler.S9_Scales` |' > "$tree/tests/catalogue/CATALOGUE.md"
}

expect_accepted() {  # CHECK
    local output
    output=$("$here/$1" "$tree" 2>&1) || fail "$1 refuses a sound tree: $output"
}

expect_refused() {  # CHECK TEXT FILE LINE: LINE appended to FILE makes CHECK fail with TEXT
    make_tree
    echo "$4" >> "$tree/$3"
    local output
    output=$("$here/$1" "$tree" 2>&1) && fail "$1 accepts $3 with: $4"
    [[ $output == *"$2"* ]] || fail "$1 refuses $3 with '$4' for another reason: $output"
}

expect_not_cited() {  # LINE of a header: nothing in it is a citation
    make_tree
    echo "$1" >> "$tree/engine/src/amp/cast.h"
    expect_accepted check_citations.sh
}

make_tree
expect_accepted check_citations.sh
expect_accepted check_links.sh

header=engine/src/amp/cast.h
expect_refused check_citations.sh 'cast.h:5: 1.13 has no heading' "$header" '/// Undefined ones stay (1.13).'
expect_refused check_citations.sh '2.7 has no heading' "$header" '// 2.7: the update.'
expect_refused check_citations.sh '2.7 has no heading' "$header" "/// 2.7's variant in words."
expect_refused check_citations.sh '3.5 has no heading' "$header" '/// 3.5 of the handbook.'
expect_refused check_citations.sh '4.3 has no heading' "$header" '// The numbers of 4.3.'
expect_refused check_citations.sh '4.4 has no heading' "$header" '// The rules of 1.4 and 4.4 hold.'
expect_refused check_citations.sh '2.6 has no heading' "$header" '/// Device values (2.6, point 1).'
expect_refused check_citations.sh '3.4 has no heading' "$header" '// Recipe 3.4 as a setting.'
expect_refused check_citations.sh '1.10 has no heading' "$header" 'int x;  // rows (1.4, 1.10)'
expect_refused check_citations.sh 'D19 has no heading' "$header" '// One launch a step (D19).'
expect_refused check_citations.sh 'S28 has no heading' "$header" '// S28 of the catalogue.'
expect_refused check_citations.sh 'interfaces.md#7 has no heading' "$header" '/// A row (interfaces.md, section 7).'
expect_refused check_citations.sh 'semantics.md has no heading' "$header" '/// As semantics.md says.'
expect_refused check_citations.sh 'rules.py:2: 1.9 has no heading' tests/peer/rules.py '# By the lists (1.9).'
expect_refused check_citations.sh 'rules.py:3: 1.9 has no heading' tests/peer/rules.py $'"""Lists\nof 1.9."""'
expect_refused check_citations.sh 'X3 has no heading' tests/catalogue/CATALOGUE.md '| X3 | |'
expect_refused check_citations.sh 'rules.md:7: D7 has no heading' resources/handbook/rules.md 'As D7.'
expect_refused check_citations.sh 'cast.h:5: say where 1.4 leads: rules.md#policies (1.4)' "$header" '/// Undefined ones stay (1.4).'
expect_refused check_citations.sh 'say where D6 leads: rules.md#copies-persist (D6)' "$header" '// Copies (D6).'
expect_refused check_citations.sh 'rules.py:2: say where 1.4 leads' tests/peer/rules.py '# Recipe 1.4.'
expect_refused check_citations.sh 'rules.md#other does not begin the heading of 1.4, rules.md#policies' "$header" '// (rules.md#other, 1.4)'
for lines in $'/// As rules.md#policies\n/// (1.4) says.' $'/// Rules (rules.md#policies,\n/// 1.4).' '// rules.md#copies-persist (D6)'; do
    make_tree
    echo "$lines" >> "$tree/$header"
    expect_accepted check_citations.sh
done
expect_refused check_citations.sh '1.4 has two headings' resources/handbook/interfaces.md '## 1.4 Again'

expect_not_cited '// It takes 2.7 ms, 1.3 MiB, 4.6 % of 3.3 million, and 5.1 in a row.'
expect_not_cited 'f(2.7);  // from [1.5, 2.5), log(1.9)'
expect_not_cited '// libm (2.31, AVX-512), version 2.6.1, 14.3, -1.6, 1.5e-3'
expect_not_cited 'TEST(A26, X) { D99 y; }'

page=resources/handbook/rules.md
expect_refused check_links.sh 'gone.md leads nowhere' $page '[a page](gone.md)'
expect_refused check_links.sh '#15-more: no such heading' $page '[a rule](rules.md#15-more)'
expect_refused check_links.sh 'is not relative' $page '[a page](/resources/handbook/rules.md)'
expect_refused check_links.sh 'there is no file amp/gone.h' $page 'See `amp/gone.h`.'
expect_refused check_links.sh 'no page links to resources/handbook/lonely.md' resources/handbook/lonely.md '# Lonely'
expect_refused check_links.sh 'lonely.zh.md is a translation of no page' resources/handbook/lonely.zh.md '# Lonely'
make_tree
echo > "$tree/README.md"
"$here/check_links.sh" "$tree" > /dev/null && fail "a handbook without a link in README.md is accepted"
make_tree
echo '    [an example](gone.md) and `[another](gone.md)`' >> "$tree/$page"
expect_accepted check_links.sh

make_tree
expect_accepted check_phrases.sh
for line in 'It ends for want of memory.' 'It may be a want of memory.' 'that which it was' 'in any order, whatever comes of it' 'the batch in the making' \
    'It goes along with a copy.' 'what there is left' 'a class that there is not' 'What one block is kept by keeps all of it.' 'This is not written down.' \
    'what the library makes of NaN' 'operations which take our own way' 'That is its own affair.' 'when it hears of the start' 'is not woken for it' \
    'It could bear more.' 'Numbers in the model' 'which a mask has left nothing of' 'Whoever reads it waits.' 'what it knows of the step' \
    'It is of no interest any more.' 'which a region sees to' 'as the books say' 'a refused value' 'what the judge counts' 'The user is told.' 'what is said here' \
    'The status line speaks of one run.' 'Its slope leaves fp16.' 'The file is no lesson.' 'The kernel wants a mask.' 'The driver tells it.' 'An optimizer forgets its state.'; do
    expect_refused check_phrases.sh 'cast.h:5: "' "$header" "// $line"
    expect_refused check_phrases.sh 'rules.md:7: "' $page "$line"
done
expect_refused check_phrases.sh 'cast.h:5: "for want of"' "$header" $'    // It ends for want\n    // of memory.'
expect_refused check_phrases.sh 'cast.h:5: "qWait(2": write a wait for a state' "$header" '    QTest::qWait(20);'
expect_refused check_phrases.sh 'rules.py:2: "in the making"' tests/peer/rules.py $'# a batch in\n# the making'
expect_refused check_phrases.sh 'cast.h:5: number_beside: the name is now scalar_like' "$header" 'Tensor t = number_beside(x);'
expect_refused check_phrases.sh 'cast.h:5: may_take: the name is now can_steal' "$header" 'if (may_take(x)) return;'
for line in 'By the way, as given, told apart, seen and heard; lent from a book.' 'It makes sense of what is there.' 'no value is refused' 'There is no lesson of that name.' 'the handbook keeps books of rules'; do
    make_tree
    echo "// $line" >> "$tree/$header"
    expect_accepted check_phrases.sh
done
for opening in 'Of' 'What' 'The same' 'Those'; do
    for line in "// $opening files" "    /// $opening files" "int x;  ///< $opening files"; do
        expect_refused check_phrases.sh "cast.h:5: a comment begins with \"$opening\"" "$header" "$line"
    done
    expect_refused check_phrases.sh "cast.h:7: a comment begins with \"$opening\"" "$header" $'// Files\n//\n'"// $opening files"
    expect_refused check_phrases.sh "rules.py:2: a comment begins with" tests/peer/rules.py "# $opening files"
    expect_refused check_phrases.sh "rules.py:2: a comment begins with" tests/peer/rules.py '"""'"$opening"' files"""'
done
for line in $'// Files: the text\n// Of mice' '// Often, Whatever, Thosein' 'int of;  ///< of files' 'f("// Of files");'; do
    make_tree
    echo "$line" >> "$tree/$header"
    expect_accepted check_phrases.sh
done
make_tree
find "$tree" -type f -delete
"$here/check_phrases.sh" "$tree" > /dev/null && fail "a tree without text is accepted"

# Two commands, a map, measured operations and a page on what has not run on a GPU.
make_lists() {
    make_tree
    printf 'HALFTONE_COMMAND(%s, "It")\n' train find_lr ops > "$tree/app/commands.inc"
    cat > "$tree/resources/handbook/command-line.md" <<-'END'
	| | |
	| --- | --- |
	| `halftone train [CONFIG\|RUN]` | a run |
	| `halftone find-lr`, `ops` `[--json]` | more of `others` |
	END
    printf '| room | holds |\n| --- | --- |\n| `amp` | casts |\n' > "$tree/engine/README.md"
    printf '| `mm(a, b)` | casts to f32 | 2 | why |\n' > "$tree/engine/OPERATIONS.md"
    printf '| op | policy | worst share of bound |\n| --- | --- | ---: |\n| mm | f32 | 0.99 |\n' > "$tree/tests/peer/RESULTS.md"
    mkdir -p "$tree"/{tests/gpu,kernels/cuda,installer}
    touch "$tree/kernels/cuda/"{cast,copy}.cu
    echo 'part_kernels() { :; }' > "$tree/tests/gpu/run.sh"
    printf '| `kernels/cuda/{cast,copy}.cu` | `run.sh kernels` |\n' > "$tree/tests/gpu/UNVERIFIED.md"
}

expect_list_refused() {  # TEXT FILE LINE
    make_lists
    echo "$3" >> "$tree/$2"
    local output
    output=$("$here/check_lists.sh" "$tree" 2>&1) && fail "check_lists.sh accepts $2 with: $3"
    [[ $output == *"$1"* ]] || fail "check_lists.sh refuses $2 with '$3' for another reason: $output"
}

make_lists
expect_accepted check_lists.sh
expect_list_refused 'command-line.md: command op is missing' app/commands.inc 'HALFTONE_COMMAND(op, "It")'
expect_list_refused 'command-line.md: there is no command gone' resources/handbook/command-line.md '| `halftone gone` | it |'
expect_list_refused 'engine/README.md: there is no folder gone' engine/README.md '| `gone` | it |'
expect_list_refused 'operation bmm is missing' engine/OPERATIONS.md '| `bmm(a, b)` | refused | 2 | why |'
expect_list_refused 'there is no operation bmm' tests/peer/RESULTS.md '| bmm | f32 | 0.99 |'
expect_list_refused 'mm has another policy than low' tests/peer/RESULTS.md '| mm | low | 0.99 |'
expect_list_refused 'mm is beyond its bound' tests/peer/RESULTS.md '| mm | f32 | 1.01 |'
expect_list_refused 'names gone.cu, which is not there' tests/gpu/UNVERIFIED.md '| `gone.cu` | it |'
expect_list_refused 'run.sh has no part ops' tests/gpu/UNVERIFIED.md '| it | `run.sh kernels ops` |'
expect_list_refused 'rules.md:9: a row of 3 cells in a table of 2' resources/handbook/rules.md $'| a | b |\n| --- | --- |\n| a | b | c |'
expect_list_refused '2^-24: write the exponent raised' resources/handbook/rules.md 'Values below 2^-24 are 0.'
make_lists
printf 'Below 2⁻²⁴, or `2^-24`, or x^2.\n```\n2^16\n```\n' >> "$tree/resources/handbook/rules.md"
expect_accepted check_lists.sh
make_lists
mkdir "$tree/engine/src/conv"
"$here/check_lists.sh" "$tree" > /dev/null && fail "a map without a folder is accepted"
make_lists
touch "$tree/engine/src/amp/"{force,region}.cpp
"$here/check_lists.sh" "$tree" > /dev/null && fail "a room of three files without a page is accepted"
seq 41 > "$tree/engine/src/amp/README.md"
"$here/check_lists.sh" "$tree" > /dev/null && fail "a page of 41 lines is accepted"

((failures == 0)) && echo "all cases as expected"
exit $((failures > 0))
