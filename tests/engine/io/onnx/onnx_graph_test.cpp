#include "io/onnx/onnx_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "io/onnx/read_onnx.h"
#include "support/expectations.h"

namespace engine {
namespace {

using test::ReadOnnx;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor numbers(const std::vector<double>& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::f32, Device{});
}

/// y = x + weight
OnnxGraph sum(DType dtype) {
    OnnxGraph graph(dtype);
    const OnnxValue x = graph.input("x", dtype, {"batch", std::int64_t{2}});
    graph.output("y", graph.node("Add", {x, graph.weight("w", numbers({0.5, -2}))}),
                 {"batch", std::int64_t{2}});
    return graph;
}

TEST(OnnxGraph, IsWrittenAsOpset17WithItsProperties) {
    const ReadOnnx read(onnx_model(sum(DType::f32), {{"data_set", "spirals"}}));
    EXPECT_EQ(read.faults(), "");
    EXPECT_EQ(read.ir_version, 8);
    EXPECT_EQ(read.opset, 17);
    EXPECT_THAT(read.producer_version, testing::MatchesRegex("[0-9]+\\.[0-9]+(\\.[0-9]+)?"));
    EXPECT_EQ(read.metadata.at("data_set"), "spirals");
    EXPECT_THAT(read.inputs.at("x").dims, ElementsAre("batch", "2"));
    EXPECT_EQ(read.inputs.at("x").type, 1);
    EXPECT_EQ(read.outputs.at("y").type, 1);
    EXPECT_EQ(read.count("Add"), 1);
    const float wanted[] = {0.5F, -2.F};
    const auto& weight = read.initializers.at("w");
    EXPECT_THAT(weight.dims, ElementsAre(2));
    EXPECT_EQ(weight.data, std::string(reinterpret_cast<const char*>(wanted), sizeof wanted));
}

TEST(OnnxGraph, InFp16HoldsItsWeightsRounded) {
    const ReadOnnx read(onnx_model(sum(DType::f16), {}));
    EXPECT_EQ(read.faults(), "");
    const auto& weight = read.initializers.at("w");
    EXPECT_EQ(weight.type, 10);
    const std::uint16_t wanted[] = {0x3800, 0xc000};
    EXPECT_EQ(weight.data, std::string(reinterpret_cast<const char*>(wanted), sizeof wanted));
    EXPECT_EQ(read.inputs.at("x").type, 10);
}

TEST(OnnxGraph, RefusesWeightsThatFp16CannotHold) {
    OnnxGraph graph(DType::f16);
    graph.weight("fits", numbers({65504, -65504}));
    EXPECT_THAT(message_of(ErrorCode::data,
                           [&] {
                               graph.weight("fc.weight", numbers({1, 7e4}));
                           }),
                HasSubstr("fc.weight holds values beyond 65504"));
    EXPECT_EQ(graph.statistic("variance", numbers({7e4})), "variance");
}

TEST(OnnxGraph, HoldsAWeightOnceHoweverOftenItIsUsed) {
    OnnxGraph graph(DType::f32);
    graph.weight("w", numbers({1}));
    graph.weight("w", numbers({1}));
    graph.integers({0, 1});
    graph.integers({0, 1});
    EXPECT_EQ(graph.initializers().size(), 2U);
}

TEST(OnnxGraph, HoldsANodeOnceHoweverOftenItIsAdded) {
    OnnxGraph graph(DType::f32);
    const OnnxValue x = graph.input("x", DType::f32, {"batch"});
    EXPECT_EQ(graph.node("Relu", {x}), graph.node("Relu", {x}));
    EXPECT_NE(graph.node("Elu", {x}, {{"alpha", 1.0}}), graph.node("Elu", {x}, {{"alpha", 2.0}}));
    EXPECT_EQ(graph.nodes().size(), 3U);
}

TEST(OnnxGraph, IsFp32OrFp16) {
    EXPECT_THAT(message_of(ErrorCode::value, [] { OnnxGraph(DType::bf16); }),
                HasSubstr("not bf16"));
}

TEST(OnnxGraph, OfMoreBytesThanAFileHoldsIsRefused) {
    EXPECT_THAT(message_of(ErrorCode::data, [] { onnx_model(sum(DType::f32), {}, 1 << 20); }),
                HasSubstr("an ONNX file holds at most 2 GiB"));
}

}  // namespace
}  // namespace engine
