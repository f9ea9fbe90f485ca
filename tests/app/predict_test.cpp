#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "program.h"

namespace app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::SizeIs;

/// A trained BERT, on a text in which "two" is the only word between "one" and "three".
class PredictText : public testing::Test {
protected:
    void train(const std::string& model) {
        {
            std::ofstream text(home_ / "text.txt");
            for (int i = 0; i < 900; ++i)
                text << (i % 3 == 0 ? "one two three " : "red blue green ");
        }
        std::vector<std::string> args = {"train"};
        for (const std::string& setting : std::vector<std::string>{
                 "dataset.kind=text-words", "dataset.path=" + (home_ / "text.txt").string(),
                 "model.kind=" + model, "model.options.layers=1", "model.options.dropout=0",
                 "precision.preset=fp32", "optimizer.kind=adam", "optimizer.lr=0.003",
                 "batch_size=16", "bptt=12", "epochs=1000", "max_steps=600", "device=cpu",
                 "threads=1"}) {
            args.insert(args.end(), {"--set", setting});
        }
        if (model == "bert")
            args.insert(args.end(), {"--set", "model.options.width=32", "--set",
                                     "model.options.heads=2", "--set", "model.options.context=12"});
        Program program(args, {home_.str(), {}});
        program.finish();
        ASSERT_EQ(program.exit_code(), 0) << program.errors();
    }
    std::vector<std::string> predict(std::vector<std::string> args, int exit_code = 0) {
        args.insert(args.begin(), {"predict", "1"});
        Program program(args, {home_.str(), {}});
        program.finish();
        EXPECT_EQ(program.exit_code(), exit_code) << program.errors();
        errors_ = program.errors();
        return program.output();
    }
    test_support::TempFolder home_;
    std::string errors_;
};

TEST_F(PredictText, FillsEachMaskWithItsLikeliestWords) {
    train("bert");
    const auto lines = predict({"--text", "one [MASK] three red [MASK] green", "--top", "2"});
    ASSERT_THAT(lines, SizeIs(2));
    EXPECT_THAT(lines[0], MatchesRegex("1: two [0-9.]+ %, [a-z<>]+ [0-9.]+ %"));
    EXPECT_THAT(lines[1], MatchesRegex("4: blue [0-9.]+ %, [a-z<>]+ [0-9.]+ %"));
    EXPECT_EQ(errors_, "");
    EXPECT_THAT(predict({"--text", "one zzz [MASK] three red Zzz [MASK]", "--top", "1"}),
                testing::ElementsAre(MatchesRegex("2: .*"), MatchesRegex("6: .*")));
    EXPECT_THAT(errors_, HasSubstr("\"zzz\", \"Zzz\""));
    const auto objects = predict({"--text", "one [MASK] three red blue green", "--json"});
    ASSERT_THAT(objects, SizeIs(1));
    const auto mask = nlohmann::json::parse(objects[0]);
    EXPECT_EQ(mask.at("place"), 1);
    ASSERT_EQ(mask.at("words").size(), 3u) << "--top is 3";
    EXPECT_EQ(mask.at("words")[0].at("word"), "two");
    double before = 1;
    for (const auto& word : mask.at("words")) {
        EXPECT_LE(word.at("probability").get<double>(), before);
        before = word.at("probability").get<double>();
    }
    EXPECT_GT(mask.at("words")[0].at("probability").get<double>(), 0.5);
}

TEST_F(PredictText, ATextThatCannotBeFilledIsRefusedWithASentence) {
    train("bert");
    EXPECT_THAT(predict({"--text", "one two three"}, 2), IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("the text has no [MASK] to fill"));
    EXPECT_THAT(predict({"--text",
                         "[MASK] one two three one two three one two three one two "
                         "three"},
                        2),
                IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("13 tokens; the model reads 12 at most"));
    EXPECT_THAT(predict({}, 2), IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("--text"));
    EXPECT_THAT(predict({"a.png", "--text", "[MASK]"}, 2), IsEmpty()) << "either files or a text";
}

TEST_F(PredictText, AnotherModelFillsNoMasks) {
    train("rnn-lm");
    EXPECT_THAT(predict({"--text", "one [MASK] three"}, 2), IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("does not fill masks"));
}

/// A regression on a table with gaps.
class PredictRows : public PredictText {
protected:
    void SetUp() override {
        std::ofstream table(home_ / "train.csv");
        table << "u,colour,target\n";
        for (int i = 0; i < 60; ++i)
            table << (i % 6 == 3 ? "?" : std::to_string(i)) << ',' << (i % 2 == 0 ? "red" : "blue")
                  << ',' << 2 * i << ".5\n";
        table.close();
        std::vector<std::string> args = {"train"};
        for (const std::string& setting : std::vector<std::string>{
                 "dataset.kind=csv", "dataset.path = train.csv", "dataset.missing=mean",
                 "model.kind=mlp", "precision.preset=fp32", "max_steps=2", "batch_size=16",
                 "device=cpu", "threads=1"}) {
            args.insert(args.end(), {"--set", setting});
        }
        Program program(args,
                        {home_.str(), [this] { std::filesystem::current_path(home_.path()); }});
        program.finish();
        ASSERT_EQ(program.exit_code(), 0) << program.errors();
    }
    std::vector<std::string> rows(const std::string& text, int exit_code = 0) {
        std::ofstream(home_ / "rows.csv") << text;
        return predict({(home_ / "rows.csv").string()}, exit_code);
    }
};

TEST_F(PredictRows, AnUnreadableCellIsNamedAndTheOtherRowsArePredicted) {
    const auto lines = rows("u,colour\n1,red\nx,red\n?,blue\n2,green\n3,blue\n", 3);
    ASSERT_THAT(lines, SizeIs(3));
    EXPECT_THAT(lines[1], HasSubstr("rows.csv line 4: "));
    EXPECT_THAT(errors_, HasSubstr("rows.csv line 3: column u: x is not a number"));
    EXPECT_THAT(errors_, HasSubstr("rows.csv line 5: column colour: green was not in the"));
    EXPECT_THAT(rows("u,colour\n1,red\n"), SizeIs(1));
    EXPECT_THAT(errors_, IsEmpty());
}

TEST_F(PredictRows, ARunFindsItsDataFromAnyFolder) {
    Program program({"eval", "1"}, {home_.str(), {}});
    program.finish();
    EXPECT_EQ(program.exit_code(), 0) << program.errors();
}

TEST_F(PredictRows, AColumnThatIsMissingOrMisspeltIsNamed) {
    EXPECT_THAT(rows("u\n1\n", 3), IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("missing: \"colour\""));
    EXPECT_THAT(rows("u,color\n1,red\n", 3), IsEmpty());
    EXPECT_THAT(errors_, HasSubstr("missing: \"colour\""));
    EXPECT_THAT(rows("1,red\n2,blue\n"), SizeIs(2));
    EXPECT_THAT(errors_, HasSubstr("no header: its columns are taken by position"));
}

}  // namespace
}  // namespace app
