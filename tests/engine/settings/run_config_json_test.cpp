#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"
#include "error_lines.h"
#include "random_config.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(RunConfigJson, AnEmptyObjectIsTheDefaultRun) {
    const auto parsed = parse_run_config("{}");
    EXPECT_THAT(error_lines(parsed), IsEmpty());
    EXPECT_EQ(parsed.config, completed(RunConfig{}));
}

TEST(RunConfigJson, ReportsEverythingWrongAtOnceInTheOrderOfTheFields) {
    const auto parsed = parse_run_config(R"({
        "epochs": 0, "batch_size": "many", "colour": 1,
        "optimizer": {"lr": -1, "momentun": 0.5}, "dataset": {"kind": "cifar1O"}})");
    EXPECT_THAT(error_lines(parsed),
                ElementsAre("colour: 1: there is no such field",
                            "optimizer.momentun: 0.5: there is no such field; did you mean "
                            "optimizer.momentum?",
                            HasSubstr("dataset.kind: cifar1O: "), HasSubstr("optimizer.lr: -1.0: "),
                            "batch_size: \"many\": use a whole number", StartsWith("epochs: 0: ")));
}

TEST(RunConfigJson, FindsAFieldThatStandsInTheWrongPlace) {
    EXPECT_THAT(error_lines(parse_run_config(R"({"lr": 0.1})")),
                ElementsAre("lr: 0.1: there is no such field; did you mean optimizer.lr?"));
    EXPECT_THAT(error_lines(parse_run_config(R"({"optimiser": {"lr": 0.1}})")),
                ElementsAre(HasSubstr("did you mean optimizer?")));
    EXPECT_THAT(error_lines(parse_run_config("{}", {"modl.kind=mlp"})),
                ElementsAre(HasSubstr("did you mean model.kind?")));
}

TEST(RunConfigJson, ADottedNameIsNoFieldInAFile) {
    EXPECT_THAT(error_lines(parse_run_config(R"({"optimizer.lr": 0.1})")),
                ElementsAre("optimizer.lr: 0.1: in a file, write lr inside the object optimizer"));
}

TEST(RunConfigJson, ReadsThePrecisionsToCompareBesideTheSettings) {
    const auto parsed =
        parse_run_config(R"({"epochs": 3, "compare": {"precisions": ["fp32", "amp-bf16"]}})");
    EXPECT_THAT(parsed.errors, IsEmpty());
    EXPECT_THAT(parsed.compared, ElementsAre("fp32", "amp-bf16"));
    EXPECT_EQ(parsed.config.epochs, 3);
    EXPECT_THAT(parse_run_config(to_json(parsed.config, parsed.compared)).compared,
                ElementsAre("fp32", "amp-bf16"));
    EXPECT_EQ(to_json(parsed.config).find("compare"), std::string::npos);
    for (const char* wrong :
         {R"({"compare": {"precisions": ["fp64"]}})", R"({"compare": {"precisions": []}})",
          R"({"compare": 3})", R"({"compare": {"precisions": ["fp32"], "seeds": 2}})"}) {
        const auto refused = parse_run_config(wrong);
        ASSERT_EQ(refused.errors.size(), 1u) << wrong;
        EXPECT_EQ(refused.errors[0].field, "compare.precisions");
    }
}

struct WrongType {
    const char* json;
    const char* line;
};
class RefusedType : public testing::TestWithParam<WrongType> {};

TEST_P(RefusedType, IsNamed) {
    EXPECT_THAT(error_lines(parse_run_config(GetParam().json)), ElementsAre(GetParam().line));
}

INSTANTIATE_TEST_SUITE_P(
    EveryKind, RefusedType,
    testing::Values(
        WrongType{R"({"deterministic": 1})", "deterministic: 1: use true or false"},
        WrongType{R"({"epochs": 1.5})", "epochs: 1.5: use a whole number"},
        WrongType{R"({"epochs": true})", "epochs: true: use a whole number"},
        WrongType{R"({"seed": 1e300})", "seed: 1e+300: use a whole number that fits into 64 bits"},
        WrongType{R"({"optimizer": {"lr": "0.1"}})", "optimizer.lr: \"0.1\": use a number"},
        WrongType{R"({"optimizer": {"lr": null}})", "optimizer.lr: null: use a number"},
        WrongType{R"({"device": 3})", "device: 3: use a text in quotes"},
        WrongType{R"({"dataset": {"path": 3}})",
                  "dataset.path: 3: use a path in quotes, or a list of them"},
        WrongType{R"({"dataset": {"path": ["a", 3]}})",
                  "dataset.path: [\"a\",3]: use a path in quotes, or a list of them"},
        WrongType{R"({"optimizer": []})", "optimizer: []: use an object with fields"},
        WrongType{R"({"model": {"options": 1}})", "model.options: 1: use an object of options"},
        WrongType{R"({"precision": {"weights": 16}})",
                  "precision.weights: 16: use a text in quotes"}));

TEST(RunConfigJson, TakesWholeNumbersWrittenAsFloats) {
    const auto parsed =
        parse_run_config(R"({"scaler": {"growth_interval": 1e3}, "batch_size": 64.0})");
    EXPECT_THAT(error_lines(parsed), IsEmpty());
    EXPECT_EQ(parsed.config.scaler.growth_interval, 1000);
    EXPECT_EQ(parsed.config.batch_size, 64);
}

TEST(RunConfigJson, APathIsAStringOrAList) {
    const auto path_of = [](const char* text) {
        return parse_run_config(text).config.dataset.path;
    };
    EXPECT_THAT(path_of(R"({"dataset": {"path": ""}})"), IsEmpty());
    EXPECT_THAT(path_of(R"({"dataset": {"path": "a"}})"), ElementsAre("a"));
    EXPECT_THAT(path_of(R"({"dataset": {"path": ["b", "a"]}})"), ElementsAre("b", "a"));
}

TEST(RunConfigJson, MalformedTextIsOneErrorWithLineAndColumn) {
    const auto parsed = parse_run_config("{\n  \"epochs\": 2,\n  oops\n}");
    ASSERT_EQ(parsed.errors.size(), 1u);
    EXPECT_EQ(parsed.errors[0].field, "(file)");
    EXPECT_EQ(parsed.errors[0].value, "line 3, column 3");
    EXPECT_THAT(parsed.errors[0].allowed.str(), StartsWith("not JSON: "));
    EXPECT_EQ(parsed.config, completed(RunConfig{}));
}

TEST(RunConfigJson, ANumberThatNoTypeHoldsIsNamed) {
    const auto parsed = parse_run_config(R"({"optimizer": {"lr": 1e400}})");
    ASSERT_EQ(parsed.errors.size(), 1u);
    EXPECT_EQ(parsed.errors[0].str(), "(file): '1e400': use a number that fits into 64 bits");
    const auto long_one = parse_run_config("{\"seed\": " + std::string(400, '9') + "}");
    ASSERT_EQ(long_one.errors.size(), 1u);
    EXPECT_LT(long_one.errors[0].str().size(), 150u);
}

TEST(RunConfigJson, RefusesWhatIsNoObject) {
    for (const char* text :
         {"", "   ", "[]", "3", "null", "\"x\"", "{", "{} {}", "\xff\xfe", "{\"a\"}"}) {
        const auto parsed = parse_run_config(text);
        ASSERT_EQ(parsed.errors.size(), 1u) << text;
        EXPECT_EQ(parsed.errors[0].field, "(file)") << text;
    }
}

TEST(RunConfigJson, RefusesDeepNestingWithoutExhaustingTheStack) {
    for (const std::string open : {"[", "{\"a\":"}) {
        std::string text;
        for (int i = 0; i < 200'000; ++i) text += open;
        EXPECT_EQ(parse_run_config(text).errors.size(), 1u);
    }
    const std::string closed =
        "{\"a\":" + std::string(100'000, '[') + std::string(100'000, ']') + "}";
    EXPECT_EQ(parse_run_config(closed).errors.size(), 1u);
}

TEST(RunConfigJson, RefusesAnyNumberOfUnknownFieldsWithAFewErrors) {
    std::string text = "{";
    for (int i = 0; i < 100'000; ++i)
        text +=
            (i > 0 ? ",\"unknown" : "\"unknown") + std::to_string(i) + "\":" + std::to_string(i);
    const auto parsed = parse_run_config(text + "}");
    EXPECT_EQ(parsed.errors.size(), 100U);
    EXPECT_EQ(parse_run_config("{\"seed\":\"" + std::string(5 << 20, 'x') + "\"}").errors.size(),
              1U);
}

TEST(RunConfigJson, AnOverrideWithDeepNestingIsAText) {
    const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
    for (const std::string path : {"seed", "model.options.hidden", "optimizer", "dataset.path"}) {
        const auto parsed = parse_run_config("{}", {path + "=" + deep});
        EXPECT_EQ(parsed.errors.empty(), path == "dataset.path") << path;
    }
}

TEST(RunConfigJson, RefusesAFieldGivenTwice) {
    EXPECT_THAT(
        error_lines(parse_run_config(R"({"optimizer": {"lr": 0.1, "lr": 0.2}, "seed": 2})")),
        ElementsAre("optimizer.lr: given twice: a field can be given only once"));
    EXPECT_THAT(error_lines(parse_run_config(
                    R"({"clip": {"kind": "norm"}, "schedule": {"kind": "cosine"}})")),
                IsEmpty());
}

TEST(RunConfigJson, AnErrorStaysOneLine) {
    const auto parsed = parse_run_config(R"({"device": "a\nb", "model": {"kind": ")" +
                                         std::string(500, 'x') + R"("}})");
    // Allowed values are listed in full; the invalid value is shortened.
    std::size_t kinds = 0;
    for (const auto& model : models()) kinds += model.kind.size() + 2;
    for (const auto& line : error_lines(parsed)) {
        EXPECT_THAT(line, testing::Not(HasSubstr("\n")));
        EXPECT_LT(line.size(), 120 + kinds);
    }
    EXPECT_EQ(parsed.errors.size(), 2u);
}

TEST(RunConfigJson, ScalerPresetFillsWhatIsNotGiven) {
    const auto parsed =
        parse_run_config(R"({"scaler": {"preset": "classroom", "init_scale": 1024}})");
    EXPECT_EQ(parsed.config.scaler.growth_interval, 25);
    EXPECT_EQ(parsed.config.scaler.init_scale, 1024);
    EXPECT_EQ(parse_run_config(R"({"scaler": {"preset": "classroom", "growth_interval": 7}})")
                  .config.scaler.growth_interval,
              7);
}

double number(const OptimizerConfig& config, const std::string& option) {
    return std::get<double>(config.options.at(option));
}

TEST(RunConfigJson, AdamwHasDefaultsOfItsOwn) {
    const auto parsed = parse_run_config(R"({"optimizer": {"kind": "adamw"}})");
    EXPECT_EQ(number(parsed.config.optimizer, "lr"), 0.001);
    EXPECT_EQ(number(parsed.config.optimizer, "weight_decay"), 0.01);
    const auto given = parse_run_config(R"({"optimizer": {"lr": 0.3, "kind": "adamw"}})");
    EXPECT_EQ(number(given.config.optimizer, "lr"), 0.3);
}

TEST(RunConfigJson, EveryOptimizerHasDefaultsOfItsOwn) {
    const auto of = [](const std::string& kind) {
        return parse_run_config("{}", {"optimizer.kind=" + kind}).config.optimizer;
    };
    EXPECT_EQ(number(of("adam"), "weight_decay"), 0);
    EXPECT_EQ(number(of("lamb"), "eps"), 1e-6);
    EXPECT_EQ(number(of("novograd"), "lr"), 0.1);
    EXPECT_EQ(number(of("novograd"), "beta2"), 0.98);
    EXPECT_EQ(number(of("adagrad"), "eps"), 1e-10);
    EXPECT_EQ(of("sgd"), completed(RunConfig{}).optimizer);
}

TEST(RunConfigJson, OptionsOfAnotherOptimizerAreKeptAndNotedUnlessTheySayNothing) {
    const auto parsed = parse_run_config(
        R"({"optimizer": {"kind": "sgd", "beta1": 0.5, "beta2": 0.999, "norm": "l2"}})");
    EXPECT_THAT(error_lines(parsed), IsEmpty());
    EXPECT_EQ(number(parsed.config.optimizer, "beta1"), 0.5);
    EXPECT_EQ(parsed.config.optimizer.options.count("beta2"), 0u);
    EXPECT_EQ(parsed.config.optimizer.options.count("norm"), 0u);
    ASSERT_EQ(parsed.notes.size(), 1u);
    EXPECT_THAT(parsed.notes[0].str(), testing::EndsWith(": optimizer.beta1."));
    const auto again = parse_run_config(to_json(parsed.config));
    EXPECT_EQ(again.config, parsed.config);
}

TEST(RunConfigJson, TheOrderOfOverridesDoesNotMatter) {
    const auto one = parse_run_config("{}", {"optimizer.kind=adamw", "optimizer.beta1=0.5"});
    const auto other = parse_run_config("{}", {"optimizer.beta1=0.5", "optimizer.kind=adamw"});
    EXPECT_EQ(one.config, other.config);
    EXPECT_EQ(number(one.config.optimizer, "beta1"), 0.5);
    EXPECT_THAT(one.notes, IsEmpty());
}

TEST(RunConfigJson, OverridesComeOnTop) {
    const auto parsed = parse_run_config(
        R"({"dataset": {"kind": "spirals"}, "model": {"kind": "mlp"}, "optimizer": {"lr": 1}})",
        {"optimizer.lr=0.25", "dataset.path=12", "model.options.hidden=[64,64]", "seed=7", "seed=8",
         "scaler={\"preset\":\"classroom\"}", "optimizer={\"momentum\":0.5}"});
    EXPECT_THAT(error_lines(parsed), IsEmpty());
    EXPECT_EQ(number(parsed.config.optimizer, "lr"), 0.25);
    EXPECT_EQ(number(parsed.config.optimizer, "momentum"), 0.5);
    EXPECT_THAT(parsed.config.dataset.path, ElementsAre("12"));
    EXPECT_EQ(std::get<std::vector<std::int64_t>>(parsed.config.model.options.at("hidden")),
              (std::vector<std::int64_t>{64, 64}));
    EXPECT_EQ(parsed.config.seed, 8);
    EXPECT_EQ(parsed.config.scaler.growth_interval, 25);
}

TEST(RunConfigJson, OverridesTakeNumbersAsPeopleWriteThem) {
    for (const auto& [text, rate] :
         std::vector<std::pair<std::string, double>>{{"optimizer.lr = 0.1", 0.1},
                                                     {"optimizer.lr=.1", 0.1},
                                                     {"optimizer.lr=1.", 1},
                                                     {"optimizer.lr=+0.1", 0.1},
                                                     {" optimizer.lr =\t+.5e-1 ", 0.05},
                                                     {"optimizer.lr=+1E-2", 0.01},
                                                     {"optimizer.lr = 1", 1}}) {
        const auto parsed = parse_run_config("{}", {text});
        EXPECT_THAT(error_lines(parsed), IsEmpty()) << text;
        EXPECT_EQ(number(parsed.config.optimizer, "lr"), rate) << text;
    }
    EXPECT_EQ(parse_run_config("{}", {"epochs = +7"}).config.epochs, 7);
    EXPECT_EQ(parse_run_config("{}", {"clip.value=-.5"}).config.clip.value, -0.5);
    for (const char* wrong : {"optimizer.lr=+-1", "optimizer.lr=.", "optimizer.lr=1.5x",
                              "optimizer.lr=++1", "optimizer.lr=1,5"}) {
        EXPECT_EQ(parse_run_config("{}", {wrong}).errors.size(), 1u) << wrong;
    }
    // A text stays as it is, but for the blanks around it.
    const RunConfig texts =
        parse_run_config("{}", {"dataset.path = a b/+1.csv ", "dataset.kind=csv",
                                "dataset.target = null", "dataset.columns=+1"})
            .config;
    EXPECT_THAT(texts.dataset.path, ElementsAre("a b/+1.csv"));
    EXPECT_EQ(std::get<std::string>(texts.dataset.options.at("target")), "null");
    EXPECT_THAT(std::get<std::vector<std::string>>(texts.dataset.options.at("columns")),
                ElementsAre("+1"));
}

TEST(RunConfigJson, ALeadingTildeIsTheHomeFolder) {
    const std::string home = std::getenv("HOME");
    const RunConfig config =
        parse_run_config(R"({"dataset": {"path": ["~/a.csv", "~other/b.csv", "c/~/d.csv"]}})",
                         {"model.init_from=~/w.safetensors", "dataset.order = ~/order.txt"})
            .config;
    EXPECT_THAT(config.dataset.path, ElementsAre(home + "/a.csv", "~other/b.csv", "c/~/d.csv"));
    EXPECT_EQ(config.model.init_from, home + "/w.safetensors");
    EXPECT_EQ(config.dataset.order, home + "/order.txt");
    EXPECT_THAT(parse_run_config("{}", {"dataset.path=~"}).config.dataset.path, ElementsAre(home));
}

TEST(RunConfigJson, PathsBecomeAbsolute) {
    RunConfig config;
    config.dataset.path = {"data/./a.csv", "/b.csv", "../c.csv"};
    config.model.init_from = "w.pt";
    config = with_absolute_paths(config);
    const auto here = std::filesystem::current_path();
    EXPECT_THAT(config.dataset.path, ElementsAre((here / "data/a.csv").string(), "/b.csv",
                                                 (here.parent_path() / "c.csv").string()));
    EXPECT_EQ(config.model.init_from, (here / "w.pt").string());
    EXPECT_EQ(config.dataset.order, "") << "none is given";
    EXPECT_EQ(with_absolute_paths(config), config);
    config.dataset.kind = "text-tokens";
    config.dataset.options["tokenizer"] = std::string("t.json");
    EXPECT_EQ(with_absolute_paths(config).dataset.options.at("tokenizer"),
              OptionValue((here / "t.json").string()));
}

TEST(RunConfigJson, RefusesBadOverrides) {
    EXPECT_THAT(
        error_lines(parse_run_config("{}", {"seed", "=3", "optimizer.rate=1", "optimizer.lr.x=1",
                                            "model.options.=1", "epochs=two"})),
        ElementsAre(StartsWith("--set: seed: "), StartsWith("--set: =3: "),
                    StartsWith("optimizer.rate: 1: "), StartsWith("optimizer.lr.x: 1: "),
                    StartsWith("model.options.: 1: "), "epochs: \"two\": use a whole number"));
}

TEST(RunConfigJson, AnOverrideWithTextThatIsNotUtf8IsRefused) {
    EXPECT_EQ(parse_run_config("{}", {"dataset.path=\xff"}).errors.size(), 1u);
    EXPECT_GE(parse_run_config("{}", {"\xff=1", "model.options.\xff=1"}).errors.size(), 1u);
}

TEST(RunConfigJson, WhatIsWrittenReadsBackEqual) {
    std::mt19937 random(7);
    for (int i = 0; i < 500; ++i) {
        const RunConfig config = random_config(random);
        const auto parsed = parse_run_config(to_json(config));
        ASSERT_THAT(error_lines(parsed), IsEmpty()) << to_json(config);
        ASSERT_EQ(parsed.config, config) << to_json(config);
        ASSERT_THAT(differing_fields(parsed.config, config), IsEmpty());
    }
}

TEST(RunConfigJson, OptionsOfEveryKindReadBackEqual) {
    RunConfig config;
    config.model.options = {{"flag", true},
                            {"count", std::int64_t{3}},
                            {"rate", 2.0},
                            {"cell", std::string("gru")},
                            {"hidden", std::vector<std::int64_t>{64, 32}},
                            {"none", std::vector<std::int64_t>{}}};
    EXPECT_EQ(parse_run_config(to_json(config)).config.model.options, config.model.options);
}

TEST(RunConfigJson, WritesNonFiniteNumbersAsWords) {
    RunConfig config;
    config.optimizer.options["lr"] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_THAT(to_json(config), HasSubstr("\"lr\": \"nan\""));
}

TEST(RunConfigJson, NeverThrowsOnDamagedText) {
    std::mt19937 random(11);
    const std::string whole = to_json(random_config(random));
    for (int i = 0; i < 3000; ++i) {
        std::string text = whole;
        for (int n = 0; n < 1 + i % 4; ++n)
            text[random() % text.size()] = static_cast<char>(random());
        if (i % 3 == 0) text.resize(random() % text.size());
        for (const auto& line : error_lines(parse_run_config(text))) ASSERT_FALSE(line.empty());
    }
}

}  // namespace
}  // namespace engine
