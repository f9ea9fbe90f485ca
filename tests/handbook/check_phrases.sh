#!/usr/bin/env bash
# check_phrases.sh ROOT: no comment, document or text of the window uses a phrase that has to be read twice, no comment begins
# with a word that leaves its subject to the reader, and no identifier is a name that was replaced. `phrases`, `openings` and
# `names` list them, with what to write instead. A phrase may go over the end of a line.
set -uo pipefail
root=${1:?usage: check_phrases.sh ROOT}
cd "$root" || exit 2

# PERL PATTERN => INSTEAD. Patterns match the misuse, not the word: ordinary uses of way, given, told and seen stay.
phrases() {
    cat <<'END'
\bfor (a )?want of|\ba want of => "out of", "lack of"
\b(that|those|this) which => "what", or the noun
\bwhatever (comes|becomes) of => "in any case"
\bin the making => "in progress"
\bgo(es)? along with => "piggybacks on", "belongs to"
\bwhat there (is|are)\b(?! to) => the noun
\bthat there (is|are) not\b => "missing", "out of range"
\bkept by keeps => "keeps ... alive"
\bnot written down => "not documented"
\bwhat [^.;:]{1,60}? makes? of (?!sense|up) => "how ... represents", "the result of"
\b(our|its|their) own way\b => "our fallback", "our implementation"
\bown affair => "not documented"
\bhears? (of|from|about)\b => "receives", "is notified"
\bwoken for => "creates a context on"
\bcould bear => "headroom"
\b[Nn]umbers in the model\b => "parameter count"
\bleft nothing of => "fully masked"
\b[Ww]hoever\b => "the caller", "the next user"
\bknows? of\b => "has", or the fact itself
\b(to|is|are) of no interest => "ignored", "discarded"
\bsees to (it|that|this|them)\b|\bwhich an? \w+ sees to\b => "ensures"
\b(the|its|their) books\b => "memory accounting"
\brefused values?\b => "deferred device error", "out-of-range value"
\bthe judge\b => "the gradient check", "the race detector"
\b([Uu]ser|[Ll]ibrary|[Oo]bserver|[Dd]evice|[Kk]ernel|[Cc]aller)s? (is|are|was|were) told\b => "gets a warning", "receives"
\b(is|are|was|were) said\b(?! to) => "is reported"
\bspeaks? of\b => "shows", "describes"
\bleaves? (fp|f|FP)16\b => "overflows"
(?<![Tt]here\s)\b(is|are) no (lesson|folder|range|setting|format|size|tensor|dict)\b(?! of) => "is not a ..."
\bqWait\([0-9]|\bqSleep\( => a wait for a state: waitFor(), QTest::qWaitFor(), QSignalSpy::wait()
\b([Kk]ernel|GPU|CPU|[Dd]evice|[Ll]ibrary|cuDNN|cuBLAS|[Dd]river|[Oo]ptimizer|[Tt]rainer|[Ll]oader|[Tt]ape|[Nn]ode|[Ff]unction|[Rr]eader|[Ww]riter|[Ss]ession|[Ss]caler|[Aa]llocator)s? (hears?|tells?|wants?|forgets?|remembers?|listens?)\b => what the code does
END
}

# REGULAR EXPRESSION => INSTEAD, of the first words of a comment or docstring.
openings() {
    cat <<'END'
Of => the noun: "Bounds of a number"
What => the noun, or a verb: "Facts that ...", "Says what ..."
The same => what it does, or the name of the other function
Those => the noun
END
}

# REGULAR EXPRESSION => INSTEAD, of whole identifiers.
names() {
    cat <<'END'
may_take => can_steal
number_beside => scalar_like
furnish => attachTo
dress => applyStyle
Judgement|judgement|judge_gradients|multi_tensor_judge|MultiTensorJudge => GradientStatistics, gradient_statistics, ...gradient_check
\w*[Rr]efusals?(?!_test)\w* => DeferredError, ValueRule, SettingErrors, error_text
refused_value_bits => deferred_value_bits
MemoryBooks|BooksScope|books_|books(?=->|[.(]\w)|rebook|book_library_scratch => MemoryAccounting, AccountingScope, accounting, account_as
heard(?=\()|LentValues => recorder, StepValues
END
}

sources() {
    find README.md CMakeLists.txt installer app engine kernels tests ui resources \
        \( -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.inc' -o -name '*.in' -o -name '*.py' \
        -o -name '*.sh' -o -name '*.awk' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.md' \) \
        ! -path 'tests/handbook/*' ! -path '*/golden/*' ! -name '*.zh.md' ! -name '*.zh.lesson.md' -print0 2> /dev/null
    return 0  # a tree without one of the folders is fine
}


[[ -n $(sources | tr '\0' ' ') ]] || { echo "found no text: the search is broken"; exit 1; }
sources | LC_ALL=C sort -z | grep -zvE "${pending_folders:-^$}" |
    PHRASES=$(phrases) OPENINGS=$(openings) NAMES=$(names | grep -vE "${pending_names:-^$}") xargs -0 perl -e '
    use strict;
    sub rules { map { /^(.+?) => (.+)$/ ? [$1, $2] : () } split /\n/, $_[0] }
    my @phrases = rules($ENV{PHRASES});
    my @openings = rules($ENV{OPENINGS});
    my $any = join "|", map { $_->[0] } @openings;
    $any = qr/(?:$any)/;
    my @names = rules($ENV{NAMES});
    $_->[0] =~ s/(?<!\\) (?!\?)/ +/g for @phrases;
    # Compiled once: otherwise each pattern is compiled anew for each file.
    $_->[0] = qr/$_->[0]/ for @phrases;
    $_->[0] = qr/\b(?:$_->[0])\b/ for @names;
    my $faults = 0;
    sub complain { my ($file, $text, $at, $what) = @_;
        printf "%s:%d: %s\n", $file, 1 + (substr($text, 0, $at) =~ tr/\n//), $what; $faults++; }
    for my $file (@ARGV) {
        open(my $in, "<", $file) or die "$file: $!";
        my $text = do { local $/; <$in> };
        # Ends of lines and the marks of comments become spaces, one for one, so that places stay.
        (my $flat = $text) =~ s{\n[ \t]*(?://[/!<]*|\#+)?[ \t]*}{" " x length($&)}ge;
        for (@phrases) {
            my ($pattern, $instead) = @$_;
            while ($flat =~ /$pattern/g) {
                my $at = $-[0];
                (my $found = $&) =~ s/ +/ /g;
                complain($file, $text, $at, "\"$found\": write $instead");
            }
        }
        # A comment begins where the line before is none, is an empty one, or has another indentation or mark.
        my $marks = $file =~ /\.(h|cpp|cu|cuh|inc|in)$/ ? qr{//[/!<]*} : qr{\#+};
        my ($before, $at) = ("", 0);
        for my $line ($file =~ /\.md$/ ? () : split /^/, $text) {
            my $mark = $line =~ /^([ \t]*$marks) \S/ ? $1 : "";
            if ($line =~ /(?:$marks |""")($any)\b/ && ($mark eq "" || $mark ne $before)) {
                my $opening = $1;
                my ($rule) = grep { $opening =~ /^$_->[0]$/ } @openings;
                complain($file, $text, $at, "a comment begins with \"$opening\": write $rule->[1]")
                    if $line =~ ($mark eq "" ? qr/(?:[ \t]$marks |^[ \t]*""")$any\b/ : qr/^\Q$mark\E $any\b/);
            }
            $before = $mark;
            $at += length $line;
        }
        for (@names) {
            my ($name, $instead) = @$_;
            while ($text =~ /$name/g) { complain($file, $text, $-[0], "$&: the name is now $instead"); }
        }
    }
    exit($faults > 0);
' || exit 1
echo "no listed phrase, opening or old name"
