#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "kept_runs.h"
#include "support/lesson_texts.h"

namespace app {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class Lesson : public KeptRuns {
protected:
    std::string write(const std::string& text) const {
        const auto file = home_ / "small.lesson.md";
        std::ofstream(file) << text;
        return file.string();
    }
    std::vector<json> objects(const std::vector<std::string>& args, int exit_code = 0) {
        std::vector<json> out;
        for (const auto& line : lines(args, exit_code)) out.push_back(json::parse(line));
        return out;
    }
};

TEST_F(Lesson, WithoutAFileAllThatAreBuiltInAreListed) {
    const auto table = lines({"lesson"});
    EXPECT_EQ(table, lines({"lesson", "--list"}));
    EXPECT_THAT(table, SizeIs(20));
    EXPECT_THAT(table, Contains(AllOf(StartsWith("overflow "), HasSubstr("one infinity is enough"),
                                      HasSubstr("(Numbers, 6 min)"))));
    const auto listed = objects({"lesson", "--json"});
    ASSERT_THAT(listed, SizeIs(20));
    EXPECT_EQ(listed[2].at("lesson"), "overflow");
    EXPECT_EQ(listed[2].at("minutes"), 6);
    EXPECT_EQ(listed[2].at("language"), "en");
}

TEST_F(Lesson, IsListedInTheLanguageThatIsAskedFor) {
    EXPECT_THAT(lines({"lesson", "--lang", "zh"}),
                Contains(AllOf(StartsWith("overflow "), HasSubstr("数值格式"))));
    std::set<std::pair<std::string, std::string>> seen;
    for (const json& each : objects({"lesson", "--lang", "all", "--json"}))
        seen.emplace(each.at("lesson"), each.at("language"));
    EXPECT_THAT(seen, SizeIs(40));
    EXPECT_TRUE(seen.contains({"overflow", "zh"}));
    expect_refused({"lesson", "--lang", "xx"}, 2, "lesson: --lang: xx: use en, zh or all");
}

TEST_F(Lesson, OneIsNamedByItsNameOrItsFile) {
    EXPECT_THAT(lines({"lesson", "overflow"}), ElementsAre(StartsWith("overflow ")));
    EXPECT_THAT(
        lines({"lesson", write(test_support::small_lesson("Mine"))}),
        ElementsAre(AllOf(StartsWith("small "), HasSubstr("Mine"), HasSubstr("(Tests, 5 min)"))));
    expect_refused({"lesson", "no-such-lesson"}, 3, "no-such-lesson does not exist");
    expect_refused({"lesson", "--check", "no-such-lesson"}, 3, "no-such-lesson does not exist");
}

TEST_F(Lesson, ChecksOneWithOneSeed) {
    EXPECT_THAT(lines({"lesson", "overflow", "--check", "--seeds", "1"}),
                ElementsAre(AllOf(StartsWith("overflow "), HasSubstr("en  seed 1"),
                                  HasSubstr("holds"), HasSubstr("edge=65520"),
                                  HasSubstr("broken_at=40"), HasSubstr("skipped_steps=1"))));
}

TEST_F(Lesson, ChecksInEachLanguageAndWithEachSeed) {
    const std::string file = write(test_support::small_lesson());
    std::ofstream(home_ / "small.zh.lesson.md") << test_support::small_lesson("小");
    const auto results =
        objects({"lesson", file, "--check", "--seeds", "2", "--lang", "all", "--json"});
    std::vector<std::string> order;
    for (const json& each : results) {
        order.push_back(each.at("language").get<std::string>() + " " + each.at("seed").dump());
        EXPECT_EQ(each.at("holds"), true);
        EXPECT_EQ(each.at("checks").at("stop"), "1");
        EXPECT_EQ(each.at("checks").at("end"), "worse");
        EXPECT_EQ(each.at("expectations").at(0).at("holds"), true);
    }
    EXPECT_THAT(order, ElementsAre("en 1", "en 2", "zh 1", "zh 2"));
}

TEST_F(Lesson, FailsIfWhatItExpectsIsFalse) {
    const std::string file = write(test_support::with(
        test_support::small_lesson(), "expect: end == worse", "expect: end == same"));
    const auto table = lines({"lesson", file, "--check"}, 3);
    ASSERT_FALSE(table.empty());
    EXPECT_THAT(table[0], HasSubstr("FAILS"));
    EXPECT_THAT(table, Contains(HasSubstr("expect: end == same and many.value < many.exact is "
                                          "false")));
    const auto results = objects({"lesson", file, "--check", "--json"}, 3);
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results[0].at("holds"), false);
    EXPECT_EQ(results[0].at("expectations").at(0).at("holds"), false);
}

TEST_F(Lesson, WithAMistakeIsNotRun) {
    const std::string file = write(
        test_support::with(test_support::small_lesson(), "model.kind=mlp", "model.kind=nothing"));
    EXPECT_THAT(lines({"lesson", file, "--check"}, 2), SizeIs(0));
    EXPECT_THAT(errors_, AllOf(StartsWith("small.lesson.md: "), HasSubstr("nothing")));
}

TEST_F(Lesson, CollectsTheAnswersOfAClass) {
    const auto folder = home_ / "class";
    std::filesystem::create_directory(folder);
    for (const char* learner : {"Ada", "Li"})
        std::ofstream(folder / (std::string(learner) + ".json"))
            << R"({"halftone": "lab answers", "learner": ")" << learner
            << R"(", "lessons": {"overflow": {"predictions": {"end_bare": {"word": "nan"}},)"
            << R"( "measured": {"end_bare": {"word": "nan"}}}}})";
    EXPECT_THAT(lines({"lesson", "--collect", folder.string()}),
                AllOf(Contains(HasSubstr("2 learners")), Contains(HasSubstr("nan 2"))));
    const auto csv = lines({"lesson", "--collect", folder.string(), "--csv"});
    EXPECT_THAT(csv, SizeIs(3)) << "a head and an answer of each";
    EXPECT_THAT(csv, Contains(HasSubstr("Ada")));
    std::filesystem::rename(folder / "Li.json", folder / "=Li.json");
    EXPECT_THAT(lines({"lesson", "--collect", folder.string(), "--csv"}),
                Contains(StartsWith("Li,'=Li.json")));
    EXPECT_THAT(lines({"lesson", "--collect", folder.string(), "--csv", "--raw"}),
                Contains(StartsWith("Li,=Li.json")));
    std::string text;
    for (const auto& line : lines({"lesson", "--collect", folder.string(), "--json"})) text += line;
    EXPECT_EQ(json::parse(text).at("learners"), 2);
    expect_refused({"lesson", "--collect", (home_ / "nowhere").string()}, 3, "is not a folder");
}

}  // namespace
}  // namespace app
