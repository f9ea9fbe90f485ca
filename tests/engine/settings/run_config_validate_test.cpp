#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <tuple>

#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"
#include "error_lines.h"

namespace engine {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::vector<std::string> lines_with(const std::vector<std::string>& overrides) {
    return error_lines(parse_run_config("{}", overrides).errors);
}

TEST(RunConfigValidate, TakesTheDefaults) {
    EXPECT_THAT(error_lines(validate(RunConfig{})), IsEmpty());
    EXPECT_THAT(error_lines(validate(default_comparison())), IsEmpty());
}

TEST(RunConfigValidate, NamesFieldValueAndWhatIsAllowed) {
    RunConfig config;
    config.batch_size = 0;
    EXPECT_THAT(error_lines(validate(config)),
                ElementsAre("batch_size: 0: use a whole number from 1 to 1000000"));
}

struct RefusedCase {
    const char* set;
    const char* field;
};

class RefusedSetting : public testing::TestWithParam<RefusedCase> {};

TEST_P(RefusedSetting, IsTheOnlyError) {
    const auto parsed = parse_run_config("{}", {GetParam().set});
    ASSERT_EQ(parsed.errors.size(), 1u) << testing::PrintToString(error_lines(parsed.errors));
    EXPECT_EQ(parsed.errors[0].field, GetParam().field);
    EXPECT_FALSE(parsed.errors[0].value.empty());
    EXPECT_FALSE(parsed.errors[0].allowed.empty());
}

INSTANTIATE_TEST_SUITE_P(
    OutOfRange, RefusedSetting,
    testing::Values(
        RefusedCase{"optimizer.lr=1e300", "optimizer.lr"},
        RefusedCase{"optimizer.lr=1e-50", "optimizer.lr"},
        RefusedCase{"optimizer.weight_decay=1e39", "optimizer.weight_decay"},
        RefusedCase{"clip.value=1e39", "clip.value"}, RefusedCase{"batch_size=0", "batch_size"},
        RefusedCase{"bptt=0", "bptt"}, RefusedCase{"evaluation_batch=-1", "evaluation_batch"},
        RefusedCase{"dataset.validation_share=1", "dataset.validation_share"},
        RefusedCase{"dataset.validation_share=-0.5", "dataset.validation_share"},
        RefusedCase{"gradient_penalty=-1", "gradient_penalty"},
        RefusedCase{"scaler.hysteresis=0", "scaler.hysteresis"},
        RefusedCase{"batch_size=-1", "batch_size"}, RefusedCase{"batch_size=1000001", "batch_size"},
        RefusedCase{"accumulate=0", "accumulate"}, RefusedCase{"epochs=0", "epochs"},
        RefusedCase{"max_steps=-1", "max_steps"}, RefusedCase{"seed=-1", "seed"},
        RefusedCase{"seed=18446744073709551616", "seed"}, RefusedCase{"threads=-1", "threads"},
        RefusedCase{"threads=5000", "threads"}, RefusedCase{"workers=0", "workers"},
        RefusedCase{"workers=129", "workers"},  // more than the samples of a batch
        RefusedCase{"dataset.train_limit=-1", "dataset.train_limit"},
        RefusedCase{"dataset.test_limit=-5", "dataset.test_limit"},
        RefusedCase{"optimizer.lr=0", "optimizer.lr"},
        RefusedCase{"optimizer.lr=-0.1", "optimizer.lr"},
        RefusedCase{"optimizer.lr=nan", "optimizer.lr"},
        RefusedCase{"optimizer.lr=inf", "optimizer.lr"},
        RefusedCase{"optimizer.lr=-inf", "optimizer.lr"},
        RefusedCase{"optimizer.momentum=1", "optimizer.momentum"},
        RefusedCase{"optimizer.momentum=-0.1", "optimizer.momentum"},
        RefusedCase{"optimizer.momentum=nan", "optimizer.momentum"},
        RefusedCase{"optimizer.weight_decay=-1", "optimizer.weight_decay"},
        RefusedCase{"optimizer.beta1=1", "optimizer.beta1"},
        RefusedCase{"optimizer.beta2=1.5", "optimizer.beta2"},
        RefusedCase{"optimizer.eps=0", "optimizer.eps"}, RefusedCase{"clip.value=0", "clip.value"},
        RefusedCase{"clip.value=nan", "clip.value"},
        RefusedCase{"scaler.growth_factor=1", "scaler.growth_factor"},
        RefusedCase{"scaler.growth_factor=nan", "scaler.growth_factor"},
        RefusedCase{"scaler.backoff_factor=1", "scaler.backoff_factor"},
        RefusedCase{"scaler.backoff_factor=0", "scaler.backoff_factor"},
        RefusedCase{"scaler.growth_interval=0", "scaler.growth_interval"},
        RefusedCase{"scaler.growth_interval=2147483648", "scaler.growth_interval"},
        RefusedCase{"scaler.init_scale=0", "scaler.init_scale"},
        RefusedCase{"scaler.init_scale=1e39", "scaler.init_scale"},
        RefusedCase{"scaler.min_scale=-1", "scaler.min_scale"},
        RefusedCase{"scaler.min_scale=131072", "scaler.init_scale"},
        RefusedCase{"scaler.max_scale=inf", "scaler.max_scale"},
        RefusedCase{"scaler.max_scale=1024", "scaler.init_scale"}));

INSTANTIATE_TEST_SUITE_P(
    UnknownKinds, RefusedSetting,
    testing::Values(RefusedCase{"dataset.kind=cifar", "dataset.kind"},
                    RefusedCase{"dataset.kind=image-folder", "dataset.path"},
                    RefusedCase{"model.kind=lenet5", "model.kind"},
                    RefusedCase{"model.kind=transformer-lm", "model.kind"},
                    RefusedCase{"precision.preset=fp64", "precision.preset"},
                    RefusedCase{"precision.weights=bf16", "precision.weights"},
                    RefusedCase{"precision.autocast=fp32", "precision.autocast"},
                    RefusedCase{"precision.batch_norm=off", "precision.batch_norm"},
                    RefusedCase{"precision.scaler=on", "precision.scaler"},
                    RefusedCase{"scaler.preset=lecture", "scaler.preset"},
                    RefusedCase{"optimizer.kind=adamax", "optimizer.kind"},
                    RefusedCase{"schedule.kind=linear", "schedule.kind"},
                    RefusedCase{"task.kind=clustering", "task.kind"},
                    RefusedCase{"clip.kind=both", "clip.kind"}, RefusedCase{"device=gpu", "device"},
                    RefusedCase{"device=cuda:", "device"}, RefusedCase{"device=cuda:x", "device"}));

INSTANTIATE_TEST_SUITE_P(
    Combinations, RefusedSetting,
    testing::Values(
        RefusedCase{"dataset.kind=spirals", "model.kind"},
        RefusedCase{"model.kind=rnn-lm", "model.kind"},
        RefusedCase{"dataset={\"kind\":\"text-generated\"}", "model.kind"},
        RefusedCase{"dataset.kind=mnist", "dataset.path"},
        RefusedCase{"dataset={\"kind\":\"cifar10\",\"path\":[\"a\",\"\"]}", "dataset.path"},
        RefusedCase{"optimizer={\"nesterov\":true,\"momentum\":0}", "optimizer.nesterov"},
        RefusedCase{"precision.master_weights=true", "precision.master_weights"},
        RefusedCase{"precision.batch_norm=fp16", "precision.batch_norm"},
        RefusedCase{"precision={\"preset\":\"o2-fp16\",\"master_weights\":false}",
                    "precision.scaler"},
        RefusedCase{"precision.weights=fp16", "precision.scaler"}));

class TakenSettings : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(TakenSettings, HaveNoError) { EXPECT_THAT(lines_with(GetParam()), IsEmpty()); }

INSTANTIATE_TEST_SUITE_P(
    Edges, TakenSettings,
    testing::Values(
        std::vector<std::string>{"optimizer.momentum=0"},
        std::vector<std::string>{"seed=9223372036854775807"},
        std::vector<std::string>{"scaler.min_scale=65536", "scaler.max_scale=65536"},
        std::vector<std::string>{"device=cuda"}, std::vector<std::string>{"device=cuda:1"},
        std::vector<std::string>{"dataset.kind=spirals", "model.kind=mlp"},
        std::vector<std::string>{"dataset.kind=cifar100", "dataset.path=x", "model.kind=resnet18",
                                 "dataset.augment=true"},
        std::vector<std::string>{"dataset.kind=cifar10", "dataset.path=x"},
        std::vector<std::string>{"model.kind=resnet18"},
        std::vector<std::string>{"dataset.kind=text-generated", "model.kind=rnn-lm"},
        std::vector<std::string>{"dataset.kind=csv", "dataset.path=x", "model.kind=mlp",
                                 "task.kind=regression", "dataset.validation_share=0.5"},
        std::vector<std::string>{"precision.preset=pure-fp16", "precision.scaler=static"},
        std::vector<std::string>{"precision.weights=null"}));

TEST(RunConfigValidate, TakesExactlyTheChoicesOfTheCatalog) {
    for (const auto& field : fields()) {
        if (field.choices.empty() || field.choices.front().value == "true") continue;
        const std::string& path = field.path;
        const auto with = [&](const std::string& value) {
            std::vector<std::string> overrides{path + "=" + value};
            if (!field.kinds.empty())  // of an option, which other kinds ignore
                overrides.push_back(path.substr(0, path.find('.')) + ".kind=" + field.kinds[0]);
            return parse_run_config("{}", overrides).errors;
        };
        for (const auto& choice : field.choices) {
            for (const auto& error : with(choice.value))
                EXPECT_THAT(error.allowed.text, testing::Not(HasSubstr("use {} or {}"))) << path;
        }
        // Texts among the options are shown in JSON form.
        const std::string foo = field.kinds.empty() ? "foo" : "\"foo\"";
        EXPECT_THAT(error_lines(with("foo")),
                    testing::Contains(testing::StartsWith(path + ": " + foo + ": use ")));
    }
    EXPECT_THAT(lines_with({"precision.scaler=foo"}),
                ElementsAre("precision.scaler: foo: use off, static or dynamic"));
}

TEST(RunConfigValidate, SuggestsTheNearestKind) {
    EXPECT_THAT(lines_with({"dataset.kind=cifar11", "dataset.path=x"}),
                ElementsAre(HasSubstr("did you mean cifar10?")));
}

TEST(RunConfigValidate, RefusesTf32OnTheCpuWithTheReason) {
    EXPECT_THAT(lines_with({"precision.preset=tf32", "device=cpu"}),
                ElementsAre(HasSubstr("TF32 needs an NVIDIA Ampere or newer GPU")));
}

TEST(RunConfigValidate, DoesNotBlameACombinationOnAFieldRefusedAlready) {
    EXPECT_THAT(lines_with({"model.kind=resnet19"}),
                ElementsAre(HasSubstr("model.kind: resnet19")));
    EXPECT_THAT(lines_with({"optimizer.momentum=1", "optimizer.nesterov=true"}),
                ElementsAre(HasSubstr("optimizer.momentum")));
}

TEST(RunConfigValidate, RefusesAugmentationOfPoints) {
    EXPECT_THAT(lines_with({"dataset.kind=spirals", "model.kind=mlp", "dataset.augment=true"}),
                ElementsAre(HasSubstr("dataset.augment: true")));
}

TEST(RunConfigValidate, RefusesAnOrderFileForAText) {
    EXPECT_THAT(
        lines_with({"dataset.kind=text-generated", "model.kind=rnn-lm", "dataset.order=order.txt"}),
        ElementsAre(HasSubstr("dataset.order: order.txt: leave it empty")));
}

TEST(RunConfigValidate, ChecksTheOptionsOfTheModel) {
    const auto mlp = [](const std::string& option) {
        return lines_with({"dataset.kind=spirals", "model.kind=mlp", "model.options." + option});
    };
    EXPECT_THAT(mlp("hidden=[8,8]"), IsEmpty());
    EXPECT_THAT(mlp("hidden=8"), IsEmpty());
    EXPECT_THAT(
        mlp("hiden=[8]"),
        ElementsAre("model.options.hiden: [8]: there is no such option of mlp; it has hidden"));
    EXPECT_THAT(mlp("hidden=true"),
                ElementsAre("model.options.hidden: true: use whole numbers, separated by commas"));
    EXPECT_THAT(mlp("hidden=[8,0]"), ElementsAre(HasSubstr("use whole numbers from 1 to 65536")));
    EXPECT_THAT(lines_with({"model.options.hiden=[8]"}),
                ElementsAre("model.options.hiden: [8]: lenet has no options"));
}

TEST(RunConfigValidate, IgnoresAnOptionOfAnotherKind) {
    EXPECT_THAT(lines_with({"model.options.hidden=[8]"}), IsEmpty()) << "an option of mlp";
    EXPECT_THAT(lines_with({"dataset.min_count=3"}), IsEmpty()) << "an option of texts";
}

TEST(RunConfigValidate, EveryModelRunsOnTheDataSetsWhoseInputItTakes) {
    for (const auto& model : models()) {
        if (model.from_text) continue;  // its text decides
        for (const auto& set : datasets()) {
            const bool takes = model.takes(set);
            EXPECT_EQ(lines_with({"dataset.kind=" + set.kind, "dataset.path=x",
                                  "model.kind=" + model.kind})
                          .empty(),
                      takes)
                << model.kind << " on " << set.kind;
        }
    }
}

TEST(RunConfigValidate, NamesTheFilesAndTheOfficialPageOfASetWithoutAPath) {
    for (const auto& [kind, file, page] :
         {std::tuple("mnist", "train-images-idx3-ubyte", "yann.lecun.com/exdb/mnist"),
          std::tuple("fashion-mnist", "t10k-labels-idx1-ubyte", "zalandoresearch/fashion-mnist"),
          std::tuple("cifar10", "data_batch_1.bin", "kriz/cifar.html"),
          std::tuple("cifar100", "cifar-100-binary.tar.gz", "kriz/cifar.html"),
          std::tuple("criteo", "train.txt", "ailab.criteo.com")}) {
        RunConfig config;
        config.dataset.kind = kind;
        if (config.dataset.kind == "criteo") config.model.kind = "dlrm";
        const auto errors = validate(config);
        ASSERT_FALSE(errors.empty()) << kind;
        EXPECT_EQ(errors[0].field, "dataset.path");
        EXPECT_THAT(errors[0].allowed.str(), testing::AllOf(HasSubstr(file), HasSubstr(page)));
    }
}

TEST(RunConfigValidate, AKeyOfAFileOfWeightsNeedsTheFile) {
    RunConfig config;
    config.model.init_key = "ema";
    const auto errors = validate(config);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].field, "model.init_key");
    config.model.init_from = "w.pt";
    EXPECT_TRUE(validate(config).empty());
}

TEST(RunConfigValidate, RefusesTextThatJsonCannotHold) {
    RunConfig config;
    config.dataset.path = {"bad\xff"};
    config.model.init_from = std::string("a\0b", 3);
    const auto errors = validate(config);
    ASSERT_EQ(errors.size(), 2u);
    EXPECT_EQ(errors[0].field, "dataset.path");
    EXPECT_EQ(errors[1].field, "model.init_from");
}

TEST(RunConfigValidate, FindsNumbersThatOnlyCodeCanSet) {
    RunConfig config;
    config.scaler.growth_factor = std::numeric_limits<double>::infinity();
    EXPECT_THAT(error_lines(validate(config)),
                ElementsAre("scaler.growth_factor: inf: use a number above 1"));
}

}  // namespace
}  // namespace engine
