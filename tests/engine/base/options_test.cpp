#include "engine/base/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "engine/base/error.h"

namespace engine {
namespace {

using Numbers = std::vector<std::int64_t>;
using Words = std::vector<std::string>;
using ::testing::ElementsAre;

/// An option of each type.
const std::vector<OptionSpec> specs = {
    {.name = "flag", .label = "Flag", .default_value = true, .help = "A flag."},
    {.name = "whole",
     .label = "Whole",
     .default_value = std::int64_t{3},
     .help = "A whole number.",
     .lowest = 1,
     .highest = 10},
    {.name = "number",
     .label = "Number",
     .default_value = 0.5,
     .help = "A number.",
     .lowest = 0,
     .highest = 1,
     .below_highest = true},
    {.name = "word", .label = "Word", .default_value = std::string("a"), .help = "A word."},
    {.name = "choice",
     .label = "Choice",
     .default_value = std::string("auto"),
     .help = "One of three words.",
     .choices = {{"auto", "Automatic"}, {"true", "Yes"}, {"false", "No"}}},
    {.name = "numbers",
     .label = "Numbers",
     .default_value = Numbers{64, 64},
     .help = "Whole numbers.",
     .lowest = 1,
     .highest = 4096},
    {.name = "words", .label = "Words", .default_value = Words{}, .help = "Words."},
};

const OptionSpec& spec(const char* name) { return *find_option(specs, name); }

std::string check_named(const char* name, const OptionValue& value) {
    return check_option(spec(name), value).str();
}

TEST(Options, AreFoundByName) {
    EXPECT_EQ(find_option(specs, "number"), &specs[2]);
    EXPECT_EQ(find_option(specs, "colour"), nullptr);
}

TEST(Options, HaveTheirDefaultsWhereNothingIsGiven) {
    EXPECT_TRUE(TypedOptions({}, specs).flag("flag"));
    EXPECT_EQ(TypedOptions({}, specs).integer("whole"), 3);
    EXPECT_EQ(TypedOptions({}, specs).number("number"), 0.5);
    EXPECT_EQ(TypedOptions({}, specs).word("word"), "a");
    EXPECT_THAT(TypedOptions({}, specs).integers("numbers"), ElementsAre(64, 64));
    EXPECT_TRUE(TypedOptions({}, specs).words("words").empty());
}

TEST(Options, HaveTheValuesThatAreGiven) {
    const Options given{{"flag", false},
                        {"whole", std::int64_t{7}},
                        {"number", 0.25},
                        {"word", std::string("b")},
                        {"numbers", Numbers{1, 2, 3}},
                        {"words", Words{"x", "y"}}};
    EXPECT_FALSE(TypedOptions(given, specs).flag("flag"));
    EXPECT_EQ(TypedOptions(given, specs).integer("whole"), 7);
    EXPECT_EQ(TypedOptions(given, specs).number("number"), 0.25);
    EXPECT_EQ(TypedOptions(given, specs).word("word"), "b");
    EXPECT_THAT(TypedOptions(given, specs).integers("numbers"), ElementsAre(1, 2, 3));
    EXPECT_THAT(TypedOptions(given, specs).words("words"), ElementsAre("x", "y"));
}

TEST(Options, WidenAWholeNumberToANumberAndToAList) {
    const Options given{{"number", std::int64_t{0}}, {"numbers", std::int64_t{128}}};
    EXPECT_EQ(TypedOptions(given, specs).number("number"), 0);
    EXPECT_THAT(TypedOptions(given, specs).integers("numbers"), ElementsAre(128));
    EXPECT_EQ(check_named("number", std::int64_t{0}), "");
    EXPECT_EQ(check_named("numbers", std::int64_t{128}), "");
    EXPECT_NE(check_named("whole", 2.0), "") << "a number does not narrow";
}

TEST(Options, TakeAFlagOrAWholeNumberForTheirWords) {
    // The forms that JSON uses: "header": true, "target": 3, "columns": [1, 2].
    EXPECT_EQ(TypedOptions({{"word", true}}, specs).word("word"), "true");
    EXPECT_EQ(TypedOptions({{"choice", false}}, specs).word("choice"), "false");
    EXPECT_EQ(TypedOptions({{"word", std::int64_t{-3}}}, specs).word("word"), "-3");
    EXPECT_THAT(TypedOptions({{"words", std::int64_t{3}}}, specs).words("words"), ElementsAre("3"));
    EXPECT_THAT(TypedOptions({{"words", Numbers{1, 2}}}, specs).words("words"),
                ElementsAre("1", "2"));
    EXPECT_TRUE(TypedOptions({{"words", Numbers{}}}, specs).words("words").empty());
    EXPECT_EQ(check_named("choice", true), "");
    EXPECT_NE(check_named("word", Numbers{1, 2}), "");
    EXPECT_NE(check_named("word", 2.5), "");
}

TEST(Options, TakeAListAsPeopleTypeIt) {
    EXPECT_THAT(TypedOptions({{"numbers", std::string("64, 32")}}, specs).integers("numbers"),
                ElementsAre(64, 32));
    EXPECT_THAT(TypedOptions({{"numbers", std::string(" 7 ,8")}}, specs).integers("numbers"),
                ElementsAre(7, 8));
    EXPECT_THAT(TypedOptions({{"words", std::string("a b,  c ")}}, specs).words("words"),
                ElementsAre("a b", "c"));
    EXPECT_TRUE(TypedOptions({{"words", std::string()}}, specs).words("words").empty());
    for (const char* bad : {"64, x", "64.5", "1e3", "99999999999999999999"})
        EXPECT_NE(check_named("numbers", std::string(bad)), "") << bad;
}

TEST(Options, RefuseAnOptionThatThereIsNot) {
    try {
        TypedOptions({}, specs).flag("colour");
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::state);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("colour"));
    }
}

TEST(Options, RefuseAValueOfAnotherType) {
    try {
        TypedOptions({{"whole", std::string("many")}}, specs).integer("whole");
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_STREQ(error.what(), "whole: use a whole number");
    }
}

TEST(CheckOption, NamesTheTypeThatIsWanted) {
    EXPECT_EQ(check_named("flag", std::int64_t{1}), "use true or false");
    EXPECT_EQ(check_named("flag", std::string("true")), "use true or false");
    EXPECT_EQ(check_named("whole", true), "use a whole number");
    EXPECT_EQ(check_named("whole", 1.5), "use a whole number");
    EXPECT_EQ(check_named("number", std::string("x")), "use a number");
    EXPECT_EQ(check_named("word", 1.5), "use a word");
    EXPECT_EQ(check_named("numbers", Words{"x"}), "use whole numbers, separated by commas");
    EXPECT_EQ(check_named("words", 1.5), "use words, separated by commas");
}

TEST(CheckOption, KeepsToTheRange) {
    EXPECT_EQ(check_named("whole", std::int64_t{1}), "");
    EXPECT_EQ(check_named("whole", std::int64_t{10}), "");
    EXPECT_EQ(check_named("whole", std::int64_t{0}), "use a whole number from 1 to 10");
    EXPECT_EQ(check_named("whole", std::int64_t{11}), "use a whole number from 1 to 10");
    EXPECT_EQ(check_named("number", 0.0), "");
    EXPECT_EQ(check_named("number", 1.0), "use a number from 0 to below 1");
    EXPECT_EQ(check_named("number", -0.1), "use a number from 0 to below 1");
    EXPECT_EQ(check_named("numbers", Numbers{1, 4096}), "");
    EXPECT_EQ(check_named("numbers", Numbers{1, 0}), "use whole numbers from 1 to 4096");
    EXPECT_EQ(check_named("numbers", std::int64_t{5000}), "use whole numbers from 1 to 4096");
}

TEST(CheckOption, DescribesEachKindOfRange) {
    const auto message = [](double lowest, double highest, bool above, bool below,
                            const OptionValue& value) {
        const OptionValue default_value =
            std::holds_alternative<double>(value) ? OptionValue(1.0) : OptionValue(std::int64_t{1});
        return check_option({.name = "x",
                             .label = "X",
                             .default_value = default_value,
                             .help = "",
                             .lowest = lowest,
                             .highest = highest,
                             .above_lowest = above,
                             .below_highest = below},
                            value)
            .str();
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(message(0, infinity, false, false, std::int64_t{-1}),
              "use a whole number, 0 or more");
    EXPECT_EQ(message(0, infinity, false, false, -1.0), "use a number, 0 or more");
    EXPECT_EQ(message(0, infinity, true, false, 0.0), "use a number above 0");
    EXPECT_EQ(message(0, 1, false, false, 2.0), "use a number from 0 to 1");
    EXPECT_EQ(message(0, 1, true, true, 0.0), "use a number above 0 and below 1");
    EXPECT_EQ(message(0, 1, true, true, 0.5), "");
    EXPECT_EQ(message(0, infinity, true, false, 1e300), "");
}

TEST(CheckOption, RefusesNumbersThatAreNotFinite) {
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
        EXPECT_NE(check_named("number", value), "");
}

TEST(CheckOption, ListsTheChoices) {
    EXPECT_EQ(check_named("choice", std::string("auto")), "");
    EXPECT_EQ(check_named("choice", std::string("maybe")), "use one of auto, true, false");
    EXPECT_EQ(check_named("choice", std::int64_t{1}), "use one of auto, true, false");
    EXPECT_EQ(check_named("word", std::string("maybe")), "") << "without choices any word will do";
}

TEST(CompleteOptions, AddsDefaultsAndGivesEachOptionItsType) {
    Options options{{"number", std::int64_t{0}}, {"choice", true}, {"numbers", std::int64_t{5}}};
    complete(options, specs);
    EXPECT_EQ(options.size(), specs.size());
    EXPECT_EQ(options["flag"], OptionValue(true));
    EXPECT_EQ(options["number"], OptionValue(0.0));
    EXPECT_EQ(options["choice"], OptionValue(std::string("true")));
    EXPECT_EQ(options["numbers"], OptionValue(Numbers{5}));
    const Options before = options;
    complete(options, specs);
    EXPECT_EQ(options, before);
}

TEST(CompleteOptions, LeavesWhatItDoesNotUnderstand) {
    Options options{{"whole", std::string("many")}, {"colour", std::string("red")}};
    complete(options, specs);
    EXPECT_EQ(options["whole"], OptionValue(std::string("many")));
    EXPECT_EQ(options["colour"], OptionValue(std::string("red")));
}

TEST(OptionText, DiffersWhereValuesDo) {
    const std::vector<OptionValue> values = {
        true,         false,           std::int64_t{12}, 0.5,
        0.25,         Numbers{},       Numbers{12, 3},   Numbers{1, 23},
        Words{"a b"}, Words{"a", "b"}, Words{"a,b"},     std::string("word"),
    };
    std::set<std::string> texts;
    for (const OptionValue& value : values) texts.insert(to_string(value));
    EXPECT_EQ(texts.size(), values.size());
    EXPECT_EQ(to_string(std::int64_t{12}), "12");
    EXPECT_EQ(to_string(std::string("word")), "word");
}

TEST(OptionText, DiffersForNumbersThatAreClose) {
    EXPECT_NE(to_string(0.1), to_string(0.1 + 1e-9));
}

}  // namespace
}  // namespace engine
