#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "engine/base/error.h"
#include "engine/network/network.h"
#include "models/recipes.h"
#include "support/device_support.h"
#include "train/step/mixed_precision.h"

// Which products of a model a recipe covers.
namespace engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Planned {
    explicit Planned(RunConfig config)
        : fixture(std::move(config), Device{}),
          made(&fixture.trainer.model()),
          layers(make_quantized_layers(resolve(fixture.config.precision), *made,
                                       recipe_settings(fixture.config))) {}

    /// "row", "mx" or "" of a module.
    std::string rule(const char* module) const {
        constexpr const char* names[] = {"tensor", "delayed", "row", "block", "mx", "nvfp4"};
        const auto layer = layers->find(module);
        return layer ? names[static_cast<std::size_t>(layer->recipe().rule)] : "";
    }
    const Model& model() const { return *made; }
    bool quantizes(const char* module, LayerProduct product) const {
        return layers->find(module)->quantizes(product);
    }

    struct Fixture {
        Fixture(RunConfig given, const Device& device)
            : config(std::move(given)),
              data(open_dataset(config.dataset, config.seed).train),
              trainer(plain(config), device, data.data->schema(), 100) {}
        /// A model for the plans, without one of its own.
        static RunConfig plain(RunConfig config) {
            config.precision = {.preset = "fp32"};
            config.quantize = {};
            return config;
        }
        RunConfig config;
        DataPart data;
        Trainer trainer;
    } fixture;
    const Model* made;
    std::unique_ptr<QuantizedLayers> layers;
};

std::string plan_error(const RunConfig& config) {
    try {
        const Planned planned(config);
    } catch (const Error& error) {
        return error.message().str();
    }
    return {};
}

RunConfig transformer(const std::string& preset) {
    RunConfig config = test::small_transformer_run(preset);
    config.model.options["layers"] = std::int64_t{4};
    return config;
}

TEST(RecipePlan, TheLongestNameDecidesAndSkipIsOverForce) {
    RunConfig config = transformer("fp8-rowwise");
    config.precision.force = {{"transformer.h.0", ForcedType::bf16},
                              {"transformer.h.0.mlp", ForcedType::mxfp8},
                              {"transformer.h.1", ForcedType::nvfp4},
                              {"transformer.h.1.attn.c_attn", ForcedType::fp32},
                              {"lm_head", ForcedType::fp8_current}};
    config.quantize.skip = {"transformer.h.0.mlp.c_fc:dgrad", "transformer.h.2.mlp:fprop",
                            "transformer.h.3.attn:fprop", "transformer.h.3.attn:dgrad",
                            "transformer.h.3.attn:wgrad"};
    const Planned planned(config);
    EXPECT_EQ(planned.rule("transformer.h.0.attn.c_attn"), "");
    EXPECT_EQ(planned.rule("transformer.h.0.mlp.c_fc"), "mx");
    EXPECT_EQ(planned.rule("transformer.h.1.attn.c_attn"), "");
    EXPECT_EQ(planned.rule("transformer.h.1.attn.c_proj"), "nvfp4");
    EXPECT_EQ(planned.rule("transformer.h.2.mlp.c_fc"), "row");
    EXPECT_EQ(planned.rule("lm_head"), "tensor");
    EXPECT_EQ(planned.rule("transformer.h.3.attn.c_proj"), "") << "all its products are kept";
    EXPECT_FALSE(planned.quantizes("transformer.h.0.mlp.c_fc", LayerProduct::input_gradient));
    EXPECT_TRUE(planned.quantizes("transformer.h.0.mlp.c_fc", LayerProduct::weight_gradient));
    EXPECT_FALSE(planned.quantizes("transformer.h.2.mlp.c_proj", LayerProduct::forward));
    // A recipe inside a forced type lifts it.
    const auto rules = force_rules(config.precision.force, planned.model().modules);
    EXPECT_EQ(rules->find("transformer.h.0.mlp.c_fc", "addmm"), nullptr);
    EXPECT_NE(rules->find("transformer.h.0.attn.c_proj", "addmm"), nullptr);
}

TEST(RecipePlan, OfSingleModulesNeedsNoRecipeOfTheRun) {
    RunConfig config = transformer("amp-bf16");
    config.precision.force = {{"transformer.h.1", ForcedType::fp8_block}};
    const Planned planned(config);
    EXPECT_EQ(planned.rule("transformer.h.1.mlp.c_fc"), "block");
    EXPECT_EQ(planned.rule("transformer.h.0.mlp.c_fc"), "");
    EXPECT_EQ(force_rules(config.precision.force, planned.model().modules), nullptr);
}

TEST(RecipePlan, KeepsTheHeadAndBlocksAsTheSettingsSay) {
    const Planned usual(transformer("nvfp4"));
    EXPECT_EQ(usual.rule("lm_head"), "");
    EXPECT_EQ(usual.rule("transformer.h.3.mlp.c_fc"), "") << "16 % of 4, rounded";
    EXPECT_EQ(usual.rule("transformer.h.2.mlp.c_fc"), "nvfp4");
    RunConfig config = transformer("nvfp4");
    config.quantize.head = true;
    config.quantize.first_blocks = 1;
    config.quantize.last_blocks = 0;
    const Planned own(config);
    EXPECT_EQ(own.rule("lm_head"), "nvfp4");
    EXPECT_EQ(own.rule("transformer.h.0.mlp.c_fc"), "");
    EXPECT_EQ(own.rule("transformer.h.3.mlp.c_fc"), "nvfp4");
}

TEST(RecipePlan, KeepsTheFirstConvolution) {
    RunConfig config = test::small_run("lenet", "fp8-current");
    config.quantize.convolutions = true;
    const Planned planned(config);
    EXPECT_EQ(planned.rule("conv1"), "");
    EXPECT_EQ(planned.rule("conv2"), "tensor");
    EXPECT_TRUE(planned.layers->find("conv2")->recipe().convolutions);
    config.precision.force = {{"conv1", ForcedType::fp8_current}};
    EXPECT_EQ(Planned(config).rule("conv1"), "tensor");
}

// The last product of each model whose modules these small runs make.
TEST(RecipePlan, KnowsTheOutputLayer) {
    const auto heads = [](const RunConfig& config) {
        return Planned(config).model().heads;
    };
    EXPECT_THAT(heads(test::small_run("mlp", "fp32")), ElementsAre("fc3"));
    EXPECT_THAT(heads(test::small_run("lenet", "fp32")), ElementsAre("fc3"));
    EXPECT_THAT(heads(test::small_run("resnet18", "fp32")), ElementsAre("fc"));
    EXPECT_THAT(heads(test::small_run("mobilenetv2", "fp32")), ElementsAre("classifier.1"));
    EXPECT_THAT(heads(test::small_text_run("fp32")), ElementsAre("decoder"));
    EXPECT_THAT(heads(test::small_transformer_run("fp32")), ElementsAre("lm_head"));
    EXPECT_THAT(heads(test::small_masked_run("fp32")), ElementsAre("cls.predictions.decoder"));
    RunConfig text = test::small_run("lenet", "fp32");
    text.model.kind = "file";
    std::istringstream lines(network_template("lenet"));
    for (std::string line; std::getline(lines, line);) text.model.network.all.push_back(line);
    EXPECT_THAT(heads(text), ElementsAre("fc3"));
}

TEST(RecipePlan, RefusesWhatHasNoProduct) {
    EXPECT_THAT(plan_error(test::small_text_run("mxfp8")),
                HasSubstr("no product that a recipe covers: its recurrent cells"));
    RunConfig rnn = test::small_text_run("mxfp8");
    rnn.quantize.head = true;
    EXPECT_EQ(plan_error(rnn), "");
    RunConfig pictures = test::small_run("resnet18", "fp8-current");
    EXPECT_THAT(plan_error(pictures), HasSubstr("a linear layer beside its output layer"));
    pictures.quantize.convolutions = true;
    EXPECT_EQ(plan_error(pictures), "");
    pictures.precision.preset = "mxfp8";  // whose blocks no convolution has
    EXPECT_THAT(plan_error(pictures), HasSubstr("a linear layer beside its output layer"));
    pictures.precision = {.preset = "amp-bf16", .force = {{"layer1.0.conv1", ForcedType::mxfp8}}};
    EXPECT_THAT(plan_error(pictures), HasSubstr("layer1.0.conv1: mxfp8: the module has no product"));
}

TEST(RecipePlan, NamesAllThatIsWrongInForceAndSkip) {
    RunConfig rnn = test::small_text_run("amp-bf16");
    rnn.precision.force = {{"rnn", ForcedType::mxfp8}};
    EXPECT_THAT(plan_error(rnn), HasSubstr("precision.force.rnn: mxfp8: recurrent cells stay in 16"));
    RunConfig config = transformer("fp8-current");
    config.precision.force = {{"transformer.h.O", ForcedType::mxfp8},
                              {"transformer.ln_f", ForcedType::mxfp8},
                              {"linear", ForcedType::mxfp8}};
    config.quantize.skip = {"transformer.h.7:fprop", "transformer.wpe:wgrad"};
    const std::string text = plan_error(config);
    EXPECT_THAT(text, HasSubstr("force.transformer.h.O: mxfp8: the model has no such module; did"));
    EXPECT_THAT(text, HasSubstr("force.transformer.ln_f: mxfp8: the module has no product"));
    EXPECT_THAT(text, HasSubstr("force.linear: mxfp8: "));
    EXPECT_THAT(text, HasSubstr("quantize.skip: transformer.h.7:fprop: the model has no such"));
    EXPECT_THAT(text, HasSubstr("quantize.skip: transformer.wpe:wgrad: the module has no product"));
}

TEST(RecipePlan, TakesTheSettingsThatARecipeHas) {
    RunConfig config;
    config.quantize = {.gradient_format = GradientFormat::e5m2,
                       .history = 16,
                       .mx_scale = MxScaling::floor,
                       .stochastic_rounding = FourBitRounding::none,
                       .hadamard = Rotation::wgrad,
                       .weight_blocks = WeightBlocks::squares,
                       .wgrad = ProductType::high,
                       .non_finite = NonFiniteRule::saturate,
                       .reduce_amax = AmaxReduction::all,
                       .evaluate = false};
    const RecipeSettings settings = recipe_settings(config);
    const Recipe mx8 = make_recipe(RecipeKind::mxfp8, settings);
    EXPECT_EQ(mx8.gradient.fraction_bits, 2);
    EXPECT_EQ(mx8.mx_rule, kernels::MxRule::floor);
    EXPECT_TRUE(mx8.square_weights && mx8.saturates && mx8.kept[2] && mx8.reduces_amax);
    EXPECT_FALSE(mx8.rotates_rows || mx8.evaluates);
    const Recipe four = make_recipe(RecipeKind::mxfp4, settings);
    EXPECT_EQ(four.gradient.fraction_bits, 1);
    EXPECT_TRUE(four.rotates_rows);
    EXPECT_FALSE(four.random_gradients);
    const Recipe rows = make_recipe(RecipeKind::fp8_rowwise, settings);
    EXPECT_EQ(rows.gradient.fraction_bits, 3) << "fixed";
    EXPECT_TRUE(rows.powers_of_two);
    EXPECT_EQ(make_recipe(RecipeKind::fp8_delayed, settings).history, 16);
    const Recipe mixed = make_recipe(RecipeKind::fp8_rowwise_gw);
    EXPECT_TRUE(mixed.whole_weights && mixed.kept[2]);
}

}  // namespace
}  // namespace engine
