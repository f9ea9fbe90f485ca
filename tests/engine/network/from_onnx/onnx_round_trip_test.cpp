#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/network/onnx_import.h"
#include "made_models.h"
#include "models/model.h"
#include "models/network_model.h"
#include "models/onnx_export.h"
#include "temp_folder.h"
#include "tensor/tape.h"

// A model that went out as ONNX and came back.
namespace engine::test {
namespace {

/// Same: the same operations run, and the bits are equal. Near: parts are put together otherwise.
enum class Apart { same, near };

struct RoundTrip {
    std::string name{};
    Apart apart = Apart::same;
    ModelShape shape{};
    std::string kind = "file";  ///< a model of the program; "file": of the text
    Options options{};
    std::string text{};
};

void PrintTo(const RoundTrip& trip, std::ostream* out) { *out << trip.name; }

ModelShape features(std::int64_t count) { return {{{.name = "features", .kind = FieldKind::features, .shape = {count}}}, 4}; }

std::vector<RoundTrip> round_trips() {
    std::vector<RoundTrip> out;
    const auto text = [&](const std::string& name, Apart apart, const ModelShape& shape, const std::string& of) { out.push_back({name, apart, shape, "file", {}, of}); };
    const auto example = [&](const std::string& name, Apart apart, const ModelShape& shape, const Options& options = {}) {
        out.push_back({"template_" + name, apart, shape, "file", options, network_template(name)});
    };
    const auto model = [&](const std::string& kind, Apart apart, const ModelShape& shape, const Options& options = {}) { out.push_back({"model_" + kind, apart, shape, kind, options}); };
    const Options thin = {{"width", std::int64_t{8}}};
    model("mlp", Apart::same, features(6));
    model("lenet", Apart::same, pictures({1, 28, 28}, 4));
    model("resnet18", Apart::same, pictures({3, 32, 32}, 4), thin);
    model("autoencoder", Apart::same, {{{.name = "image", .kind = FieldKind::image, .shape = {1, 16, 16}}}, 0, {1, 16, 16}});
    for (const char* cell : {"lstm", "gru", "rnn-tanh"})
        out.push_back({std::string("model_rnn-lm_") + cell, Apart::same, windows(5, 11), "rnn-lm", {{"cell", std::string(cell)}, {"embedding", std::int64_t{6}}, {"hidden", std::int64_t{6}}, {"tied", cell[0] == 'g'}}});
    example("lstm", Apart::same, pictures({1, 8, 8}, 4));
    example("mlp", Apart::same, features(6));
    example("lenet", Apart::same, pictures({1, 28, 28}, 4));
    example("siamese", Apart::same, features(6));
    example("resnet18", Apart::same, pictures({3, 32, 32}, 4), thin);
    example("autoencoder", Apart::same, {{{.name = "image", .kind = FieldKind::image, .shape = {1, 16, 16}}}, 0, {1, 16, 16}});
    example("unet", Apart::same, {{{.name = "image", .kind = FieldKind::image, .shape = {1, 16, 16}}}, 0, {1, 16, 16}}, {{"width", std::int64_t{4}}});
    example("vit", Apart::near, pictures({3, 8, 8}, 4), {{"width", std::int64_t{24}}, {"depth", std::int64_t{2}}});
    text("recurrence_of_two_directions", Apart::same, pictures({1, 5, 4}, 4), "network(image):\n  Squeeze(1)\n  r: LSTM(5, num_layers=2, bidirectional=true)\n  Select(1, -1)\n  fc: Linear(outputs)\n");
    text("gates", Apart::same, pictures({1, 5, 4}, 4), "network(image):\n  Squeeze(1)\n  r: GRU(5)\n  s: RNN(3)\n  Select(1, -1)\n  fc: Linear(outputs)\n");
    text("norms", Apart::near, pictures({4, 5, 5}, 4),
         "network(image):\n  c: Conv2d(4, 3)\n  g: GroupNorm(2)\n  i: InstanceNorm2d(affine=true)\n  l: LayerNorm\n  r: RMSNorm(eps=0.001)\n  Flatten\n  fc: Linear(outputs)\n");
    text("activations", Apart::near, features(6),
         "network(features):\n  a: Linear(8)\n  SiLU\n  b: Linear(8)\n  GELU\n  c: Linear(8)\n  Hardswish\n  d: Linear(8)\n  Mish\n  e: Linear(8)\n  ELU\n  fc: Linear(outputs)\n");
    text("convolutions", Apart::same, pictures({4, 9, 9}, 4),
         "network(image):\n  a: Conv2d(8, [3, 2], stride=2, padding=1, groups=2)\n  LeakyReLU(0.1)\n  b: ConvTranspose2d(4, 3, stride=2, padding=1, output_padding=1)\n  ReLU6\n"
         "  MaxPool2d(2)\n  Upsample(2)\n  AvgPool2d(2)\n  Flatten\n  fc: Linear(outputs)\n");
    return out;
}

/// No tensor is all zeros or all ones, as new biases and weights of norms are.
void move_weights(const Model& model) {
    for (const Parameter& each : model.parameters()) {
        std::vector<double> numbers = each.tensor.values();
        std::vector<float> moved;
        for (const double number : numbers) moved.push_back(static_cast<float>(number + 0.05 * std::sin(static_cast<double>(moved.size() + 1))));
        Tensor(each.tensor).copy_from_host(moved.data());
    }
}

class OnnxRoundTrips : public testing::TestWithParam<RoundTrip> {
protected:
    /// `model` as a file, and the network of that file.
    OnnxImport sent(Model& model, const std::string& name) const {
        return import_onnx(folder_.write(name, onnx_model(onnx_graph(model, GetParam().shape, DType::f32), {})));
    }
    std::unique_ptr<Model> model_of(const OnnxImport& import, const std::string& name) const {
        auto model = make_network_model(import.text, {}, GetParam().shape, 2, Device{}, true);
        const std::string weights = (folder_.path() / name).string();
        write_onnx_weights(import, weights);
        EXPECT_THAT(load_weights(*model, weights), testing::IsEmpty());
        model->training = false;
        return model;
    }
    const test_support::TempFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Models, OnnxRoundTrips, testing::ValuesIn(round_trips()), [](const auto& trip) {
    std::string name = trip.param.name;
    std::ranges::replace(name, '-', '_');
    return name;
});

constexpr std::size_t batch_of_trip = 3;

std::vector<double> outputs_of(Model& model, const ModelShape& shape) {
    TensorList inputs;
    for (const FieldSpec& field : shape.inputs) {
        Shape sizes{static_cast<std::int64_t>(batch_of_trip)};
        for (const std::int64_t size : field.shape) sizes.push_back(size);
        std::vector<double> x(static_cast<std::size_t>(sizes.numel()));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = field.dtype == DType::i64 ? static_cast<double>(7 * i % static_cast<std::size_t>(field.cardinality)) : std::sin(static_cast<double>(7 * i + 1));
        inputs.push_back(Tensor::of(x, sizes, field.dtype, Device{}));
    }
    for (const Shape& state : model.state_shapes(static_cast<std::int64_t>(batch_of_trip))) inputs.push_back(Tensor::full(state, 0.25, DType::f32, Device{}));
    const GradMode no_grad{false};
    std::vector<double> out;  // and the new state
    for (const Tensor& each : model.forward(inputs))
        for (const double number : each.values()) out.push_back(number);
    return out;
}

/// Scores of rows as they stand sample after sample, of those that stand step after step.
void turn_rows(std::vector<double>& scores, const ModelShape& shape) {
    const auto window = static_cast<std::size_t>(shape.inputs[0].shape[0]), words = static_cast<std::size_t>(shape.outputs);
    const std::vector<double> old = scores;
    for (std::size_t step = 0; step < window; ++step)
        for (std::size_t i = 0; i < batch_of_trip * words; ++i) scores[(i / words * window + step) * words + i % words] = old[step * batch_of_trip * words + i];
}

TEST_P(OnnxRoundTrips, ComputeTheSameAndMakeTheSameText) {
    const RoundTrip& trip = GetParam();
    const auto before = trip.kind == "file" ? make_network_model(trip.text, trip.options, trip.shape, 1, Device{}) : made_model(trip.kind, trip.options, trip.shape);
    move_weights(*before);
    const OnnxImport back = sent(*before, "once.onnx");
    SCOPED_TRACE(back.text);
    const auto after = model_of(back, "once.safetensors");
    std::vector<double> a = outputs_of(*before, trip.shape);
    if (trip.kind == "rnn-lm") turn_rows(a, trip.shape);
    const std::vector<double> b = outputs_of(*after, trip.shape);
    ASSERT_EQ(a.size(), b.size());
    double largest = 0, farthest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        largest = std::max(largest, std::abs(a[i]));
        farthest = std::max(farthest, std::abs(a[i] - b[i]));
    }
    EXPECT_GT(largest, 0);
    // Two hundred roundings in another order.
    EXPECT_LE(farthest, trip.apart == Apart::same ? 0 : 200 * std::ldexp(largest, -24));
    EXPECT_EQ(sent(*after, "twice.onnx").text, back.text);
}

TEST(OnnxRoundTrip, OfWhatTheNotationLacksIsRefused) {
    const ModelShape shape = windows(5, 11);
    const auto model = made_model("rnn-lm", {{"cell", std::string("rnn-relu")}, {"hidden", std::int64_t{4}}, {"embedding", std::int64_t{4}}}, shape);
    const test_support::TempFolder folder;
    const std::string file = folder.write("relu.onnx", onnx_model(onnx_graph(*model, shape, DType::f32), {}));
    try {
        import_onnx(file);
        FAIL() << "not refused";
    } catch (const Error& error) {
        EXPECT_THAT(std::string(error.what()), testing::HasSubstr("its activations are not PyTorch's"));
    }
}

}  // namespace
}  // namespace engine::test
