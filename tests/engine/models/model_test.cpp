#include "models/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "autograd/backward.h"
#include "engine/settings/catalog.h"
#include "io/safetensors/tensor_file.h"
#include "model_golden.h"
#include "models/model_descriptor.h"
#include "ops/loss/cross_entropy.h"
#include "parameter_lines.h"
#include "temp_folder.h"
#include "train/run/trainer.h"
#include "train/step/batch_feed.h"

// Compares every model of the catalog with PyTorch's: names, shapes, and one step in each precision
// of the CPU. The allowed difference is stored with each figure. tests/peer/model_golden.py derives
// it from the type's unit roundoff and the lengths of the sums, propagated through the network.
namespace engine::test {
namespace {

const ModelGolden& golden() {
    static const ModelGolden file;
    return file;
}

/// The models of the catalog for which the file has a PyTorch step.
std::vector<std::string> kinds() {
    std::vector<std::string> out;
    for (const auto& model : models()) {
        if (golden().has(model.kind)) out.push_back(model.kind);
    }
    return out;
}

std::vector<std::string> precisions_of_a_cpu() {
    std::vector<std::string> out;
    for (const auto& precision : precisions()) {
        RunConfig config;
        config.device = "cpu";
        config.precision.preset = precision.kind;
        const bool has_recipe = precision.settings.recipe != RecipeKind::none;
        if (validate(config).empty() && !has_recipe) out.push_back(precision.kind);
    }
    return out;
}

double norm_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
}

/// The script's kept(): `count` elements spread over the whole tensor.
std::vector<double> elements(const std::vector<double>& values, std::size_t count) {
    std::vector<double> out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(values.at(i * values.size() / count));
    return out;
}

void expect_gradient(const std::vector<double>& gradient, const std::vector<double>& figures) {
    const std::vector<double> expected(figures.begin() + 3, figures.end());
    std::vector<double> difference = elements(gradient, expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) difference[i] -= expected[i];
    EXPECT_NEAR(norm_of(gradient), figures[0], figures[1]);
    EXPECT_LE(norm_of(difference), figures[2]) << "elements, of norm " << norm_of(expected);
}

/// The model's golden weights, drawn once for the precisions of a kind, which come one after the
/// other.
const TensorMap& weights_of(const std::string& kind, const Model& model) {
    static std::string drawn;
    static TensorMap weights;
    if (drawn != kind) weights = golden_weights(model);
    drawn = kind;
    return weights;
}

/// The loss and the gradients of one step from the script's weights on its batch, by name.
TensorMap step(const std::string& kind, const std::string& precision) {
    const BatchShape shape = golden().batch(kind);
    RunConfig config;
    config.model = golden().model(kind);
    config.precision.preset = precision;
    config.scaler.init_scale = 1024;  // LOSS_SCALE
    config.batch_size = shape.size;
    config.threads = 1;
    Trainer trainer(config, Device{}, shape.schema(), 1);
    load_state(trainer.model(), golden_state(trainer.model(), weights_of(kind, trainer.model())));
    const test_support::TempFolder folder;
    const std::string dump = (folder / "gradients.safetensors").string();
    trainer.dump_next_gradients(dump);
    const Batch batch = golden_batch(shape);
    trainer.step({&batch, 1}, *make_ring_feed(Device{}, shape.schema()));
    return load_tensors(dump);
}

TEST(Models, EveryModelHasAReferenceOfPyTorchOrATestOfItsOwn) {
    const std::filesystem::path tests = HALFTONE_MODEL_TESTS;
    for (const auto& model : models()) {
        std::string name =
            model.output == ModelOutput::detections ? "mask_rcnn" : model.kind;
        std::ranges::replace(name, '-', '_');
        EXPECT_TRUE(golden().has(model.kind) || exists(tests / (name + "_test.cpp"))) << model.kind;
    }
    EXPECT_EQ(golden().precisions(), precisions_of_a_cpu());
}

class ModelOfTheCatalog : public testing::TestWithParam<std::string> {};

/// One test, because drawing the weights of a model takes longer than its step.
TEST_P(ModelOfTheCatalog, HasTheReferencesParametersAndAGradientOfEach) {
    const BatchShape shape = golden().batch(GetParam());
    const auto model = make_model(golden().model(GetParam()),
                                  {{shape.schema().fields[0]}, shape.classes}, 1, Device{});
    std::vector<std::string> buffers;
    for (const auto& buffer : model->buffers()) buffers.push_back(buffer.name);
    EXPECT_EQ(parameter_lines(*model), golden().parameters(GetParam()));
    EXPECT_EQ(buffers, golden().buffers(GetParam()));
    EXPECT_EQ(model->parameter_count(), golden().parameter_count(GetParam()));

    const DeviceBatch batch = make_ring_feed(Device{}, shape.schema())->upload(golden_batch(shape));
    const Tensor logits = model->forward({batch[0]}).front();
    ASSERT_EQ(logits.shape(), (Shape{shape.size, shape.classes}));
    backward(cross_entropy(logits, batch[1]));
    for (const auto& parameter : model->parameters()) {
        const Tensor grad = parameter.tensor.grad();
        ASSERT_TRUE(grad.defined()) << parameter.name;
        EXPECT_EQ(grad.shape(), parameter.tensor.shape()) << parameter.name;
        const double norm = norm_of(grad.values());
        EXPECT_TRUE(std::isfinite(norm) && norm > 0) << parameter.name << " " << norm;
    }
}

INSTANTIATE_TEST_SUITE_P(Catalog, ModelOfTheCatalog, testing::ValuesIn(kinds()),
                         [](const auto& of) { return of.param; });

using ModelAndPrecision = std::tuple<std::string, std::string>;
class ModelStep : public testing::TestWithParam<ModelAndPrecision> {};

TEST_P(ModelStep, LossAndGradientsAreTheReferences) {
    const auto& [kind, precision] = GetParam();
    const TensorMap found = step(kind, precision);
    const auto loss = golden().figures(kind, precision, "loss");
    EXPECT_NEAR(found.at("loss").item(), loss[0], loss[1]);
    const std::vector<std::string> compared = golden().compared(kind);
    EXPECT_GE(compared.size(), 6u);
    for (const std::string& name : compared) {
        SCOPED_TRACE(name);
        expect_gradient(found.at("grad." + name).values(), golden().figures(kind, precision, name));
    }
}

/// "resnet18_amp_fp16"
std::string label(const testing::TestParamInfo<ModelAndPrecision>& of) {
    std::string text = std::get<0>(of.param) + "_" + std::get<1>(of.param);
    std::replace(text.begin(), text.end(), '-', '_');
    return text;
}

std::vector<ModelAndPrecision> golden_steps() {
    std::vector<ModelAndPrecision> out;
    for (const std::string& kind : kinds())
        for (const std::string& precision : golden().precisions(kind))
            out.emplace_back(kind, precision);
    return out;
}

INSTANTIATE_TEST_SUITE_P(Catalog, ModelStep, testing::ValuesIn(golden_steps()), label);

}  // namespace
}  // namespace engine::test
