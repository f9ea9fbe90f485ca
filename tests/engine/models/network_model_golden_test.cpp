#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "model_golden.h"
#include "network/kinds.h"
#include "network_twin.h"
#include "tensor_file.h"

// A step of small networks, with each kind of layer, against PyTorch's: tests/peer/network_steps.py writes the figures and how
// far ours may be from them.
namespace engine::test {
namespace {

using nlohmann::json;

std::vector<json> golden_networks() {
    std::istringstream in(peer::unpacked(std::filesystem::path(HALFTONE_GOLDEN_DIR) / "network_steps.txt.xz"));
    std::vector<json> out;
    for (std::string line; std::getline(in, line);) out.push_back(json::parse(line));
    return out;
}

constexpr std::int64_t batch = 4, window = 5;
constexpr std::uint32_t loss_stream = 5000;

Tensor uniform_tensor(std::uint32_t stream, const Shape& shape) {
    std::vector<double> values(static_cast<std::size_t>(shape.numel()));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = uniform(stream, static_cast<std::uint32_t>(i));
    return Tensor::of(values, shape, DType::f32, Device{});
}

Tensor whole_numbers(const Shape& shape, std::int64_t below) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i) values.push_back(static_cast<double>((i * 7 + 3) % below));
    return Tensor::of(values, shape, DType::i64, Device{});
}

/// Kinds of data that the network reads, and a batch.
struct Inputs {
    ModelShape shape;
    TensorList tensors;
};

Inputs inputs_of(const json& network) {
    Inputs out{{{}, 3}, {}};
    if (const std::int64_t count = network.at("features"); count > 0) {
        out.shape.inputs.push_back({.name = "features", .kind = FieldKind::features, .shape = {count}});
        out.tensors.push_back(uniform_tensor(0, {batch, count}));
    }
    if (const json& image = network.at("image"); !image.empty()) {
        const Shape sizes{image[0].get<std::int64_t>(), image[1].get<std::int64_t>(), image[2].get<std::int64_t>()};
        out.shape.inputs.push_back({.name = "image", .kind = FieldKind::image, .shape = sizes});
        out.shape.output = sizes;
        out.tensors.push_back(uniform_tensor(0, {batch, sizes[0], sizes[1], sizes[2]}));
    }
    if (const std::int64_t words = network.at("tokens"); words > 0) {
        out.shape = windows(window, words);
        out.tensors.push_back(whole_numbers({batch, window}, words));
    }
    if (const json& indices = network.at("indices"); !indices.empty()) {
        const std::int64_t columns = indices[0], rows = indices[1];
        out.shape.inputs.push_back({.name = "indices", .kind = FieldKind::indices, .dtype = DType::i64, .shape = {columns}, .cardinality = rows});
        out.tensors.push_back(whole_numbers({batch, columns}, rows));
        out.shape.outputs = 1;
    }
    return out;
}

double norm_of_values(const std::vector<double>& values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
}

void expect_golden_gradient(const std::vector<double>& gradient, const std::vector<double>& figures) {
    const std::size_t count = figures.size() - 3;
    std::vector<double> apart;
    for (std::size_t i = 0; i < count; ++i) apart.push_back(gradient.at(i * gradient.size() / count) - figures[3 + i]);
    EXPECT_NEAR(norm_of_values(gradient), figures[0], figures[1]);
    EXPECT_LE(norm_of_values(apart), figures[2]);
}

TEST(NetworkModelGolden, EachNetworkHasTheLossAndTheGradientsOfPyTorch) {
    const std::vector<json> networks = golden_networks();
    ASSERT_GE(networks.size(), 100u);
    for (const json& network : networks) {
        SCOPED_TRACE(network.at("text").get<std::string>());
        const Inputs inputs = inputs_of(network);
        const auto model = written_model(network.at("text"), inputs.shape);
        load_state(*model, golden_state(*model, golden_weights(*model)));
        const Tensor y = model->forward(inputs.tensors).front();
        const Tensor loss = sum(mul(y, uniform_tensor(loss_stream, y.shape())));
        backward(loss);
        const std::vector<double> figures = network.at("loss");
        EXPECT_NEAR(loss.item(), figures[0], figures[1]);
        const json& gradients = network.at("gradients");
        ASSERT_EQ(model->parameters().size(), gradients.size());
        for (const Parameter& parameter : model->parameters()) {
            SCOPED_TRACE(parameter.name);
            const Tensor gradient = parameter.tensor.grad();
            expect_golden_gradient(gradient.defined() ? gradient.values() : std::vector<double>(static_cast<std::size_t>(parameter.tensor.numel())), gradients.at(parameter.name));
        }
    }
}

TEST(NetworkModelGolden, EachKindOfLayerIsInANetwork) {
    std::string texts;
    for (const json& network : golden_networks()) texts += network.at("text").get<std::string>();
    // Random ones, and one that is read from a file.
    const std::set<std::string> elsewhere{"Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "DropPath", "Buffer"};
    for (const network::LayerKind& kind : network::layer_kinds()) {
        bool found = elsewhere.contains(kind.name);
        for (std::size_t at = texts.find(kind.name); at != texts.npos && !found; at = texts.find(kind.name, at + 1)) {
            const char before = at == 0 ? ' ' : texts[at - 1], after = texts[at + kind.name.size()];
            found = before == ' ' && (after == '(' || after == '\n' || after == ' ');
        }
        EXPECT_TRUE(found) << kind.name;
    }
}

}  // namespace
}  // namespace engine::test
