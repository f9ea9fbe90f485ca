#include "engine/network/onnx_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/base/error.h"
#include "engine/io/work_scope.h"
#include "io/onnx/made_onnx.h"
#include "made_models.h"
#include "models/model.h"
#include "models/network_model.h"
#include "temp_folder.h"
#include "tensor/tape.h"
#include "tensor_file.h"

// Models of golden/onnx_imports.safetensors.xz, which tests/peer/onnx_golden.py writes.
namespace engine::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

const peer::TensorMap& golden_imports() {
    static const peer::TensorMap all = peer::read_tensors(std::filesystem::path(HALFTONE_GOLDEN_DIR) / "onnx_imports.safetensors.xz");
    return all;
}

std::vector<std::string> golden_import_names() {
    std::vector<std::string> out;
    for (const auto& [name, tensor] : golden_imports())
        if (tensor.dtype == "U8") out.push_back(name);
    return out;
}

ModelShape shape_of(const NetworkData& data, std::int64_t window) {
    const NetworkInput& input = data.inputs.at(0);
    if (input.field == "tokens") {
        ModelShape out = windows(window, input.counts.at(0));
        out.outputs = data.outputs;
        return out;
    }
    if (input.field == "image") return pictures({input.sizes[0], input.sizes[1], input.sizes[2]}, data.outputs);
    return {{{.name = "features", .kind = FieldKind::features, .shape = {input.sizes[0]}}}, data.outputs};
}

std::vector<double> rows_softmax(std::vector<double> scores, std::size_t columns) {
    for (std::size_t row = 0; row < scores.size(); row += columns) {
        double sum = 0;
        for (std::size_t i = 0; i < columns; ++i) sum += scores[row + i] = std::exp(scores[row + i]);
        for (std::size_t i = 0; i < columns; ++i) scores[row + i] /= sum;
    }
    return scores;
}

class OnnxImports : public testing::TestWithParam<std::string> {
protected:
    OnnxImport read() const { return import_onnx(file()); }
    std::string file() const { return folder_.write("model.onnx", golden_imports().at(GetParam()).bytes); }
    const test_support::TempFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Exports, OnnxImports, testing::ValuesIn(golden_import_names()), [](const auto& name) { return name.param; });

TEST_P(OnnxImports, ComputeWhatTheirExportersCompute) {
    const OnnxImport import = read();
    SCOPED_TRACE(import.text);
    const peer::RawTensor &x = golden_imports().at(GetParam() + ".x"), &y = golden_imports().at(GetParam() + ".y");
    const bool tokens = x.dtype == "I64";
    const auto model = make_network_model(import.text, {}, shape_of(import.data, x.shape.back()), 1, Device{}, true);
    const std::string weights = (folder_.path() / "model.safetensors").string();
    write_onnx_weights(import, weights);
    EXPECT_THAT(load_weights(*model, weights), testing::IsEmpty()) << "no tensor is left over";
    model->training = false;
    Shape shape;
    for (const std::int64_t size : x.shape) shape.push_back(size);
    const GradMode no_grad{false};
    std::vector<double> ours = model->forward({Tensor::of(x.values(), shape, tokens ? DType::i64 : DType::f32, Device{})}).front().values();
    if (GetParam().starts_with("mlp")) ours = rows_softmax(ours, 3);
    const std::vector<double> expected = y.values();
    ASSERT_EQ(ours.size(), expected.size());
    double largest = 0, farthest = 0;
    for (std::size_t i = 0; i < ours.size(); ++i) {
        largest = std::max(largest, std::abs(expected[i]));
        farthest = std::max(farthest, std::abs(ours[i] - expected[i]));
    }
    EXPECT_GT(largest, 0.01);
    EXPECT_LT(farthest, 1e-5 * std::max(1.0, largest));
}

TEST_P(OnnxImports, CutAnywhereAreRefused) {
    const auto& bytes = golden_imports().at(GetParam()).bytes;
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 60) {
        const std::string cut = folder_.write("cut.onnx", std::span(bytes).first(size));
        try {
            import_onnx(cut);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data) << error.what();
        }
    }
}

std::vector<std::string> sentences(const std::vector<OnnxRemark>& report) {
    std::vector<std::string> out;
    for (const OnnxRemark& each : report) out.push_back(each.str());
    return out;
}

class OnnxImportOf : public testing::Test {
protected:
    OnnxImport golden(const std::string& name) const { return import_onnx(folder_.write("model.onnx", golden_imports().at(name).bytes)); }
    OnnxImport made(const MadeOnnx& model) const { return import_onnx(folder_.write("made.onnx", model.bytes())); }
    std::string refused(const MadeOnnx& model) const {
        try {
            made(model);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::data);
            return error.what();
        }
        return "not refused";
    }
    const test_support::TempFolder folder_;
};

TEST_F(OnnxImportOf, LiftsLayersThatExportersTakeApart) {
    EXPECT_THAT(golden("parts").text, AllOf(HasSubstr("Hardswish"), HasSubstr("SiLU"), HasSubstr("LayerNorm(eps=0.001)"), HasSubstr("Linear(6)"), HasSubstr("GELU"),
                                            Not(HasSubstr("Sqrt")), Not(HasSubstr("MatMul"))));
    for (const char* name : {"vit_legacy", "vit_dynamo"}) EXPECT_THAT(golden(name).text, AllOf(HasSubstr("Attention(2)"), HasSubstr("LayerNorm"), Not(HasSubstr("MatMul")))) << name;
    for (const char* name : {"lstm_legacy", "lstm_dynamo"}) EXPECT_THAT(golden(name).text, HasSubstr("LSTM(3, num_layers=2, bidirectional=true)")) << name;
}

TEST_F(OnnxImportOf, KeepsTheNamesOfModules) {
    for (const char* name : {"resnet_legacy", "resnet_dynamo"}) {
        std::vector<std::string> names;
        for (const auto& tensor : golden(name).tensors) names.push_back(tensor.name);
        EXPECT_EQ(names.size(), 1u + 4 + 4 * 10 + 5 + 2) << name;
        for (const char* each : {"conv1.weight", "layer1.1.bn2.bias", "layer2.0.downsample.0.weight", "layer2.0.downsample.1.running_var", "fc.bias"})
            EXPECT_THAT(names, Contains(each)) << name;
    }
}

TEST_F(OnnxImportOf, SaysWhatIsLeftOut) {
    EXPECT_THAT(sentences(golden("mlp_legacy").report), Contains(HasSubstr("Softmax at the end is left out")));
    EXPECT_THAT(sentences(golden("lenet_legacy").report), Contains(HasSubstr("No norm is left")));
    EXPECT_THAT(sentences(golden("resnet_legacy").report), Each(Not(HasSubstr("No norm is left"))));
}

TEST_F(OnnxImportOf, RemarksLeadToLinesOfTheText) {
    const OnnxImport import = golden("parts");
    std::vector<std::string> lines{""};
    for (std::size_t from = 0; from < import.text.size();) {
        const std::size_t to = import.text.find('\n', from);
        lines.push_back(import.text.substr(from, to - from));
        from = to + 1;
    }
    std::size_t led = 0;
    for (const OnnxRemark& remark : import.report) {
        if (remark.kind != OnnxRemark::Kind::layers && remark.kind != OnnxRemark::Kind::lifted) continue;
        for (const auto& item : remark.items) {
            EXPECT_GT(item.count, 0) << item.name;
            if (item.line == 0) continue;
            ++led;
            EXPECT_THAT(lines.at(static_cast<std::size_t>(item.line)), HasSubstr(item.name));
        }
    }
    EXPECT_GT(led, 5U);
    const OnnxImport folded = golden("lenet_legacy");
    const auto advice = std::ranges::find(folded.report, OnnxRemark::Kind::advice, &OnnxRemark::kind);
    ASSERT_NE(advice, folded.report.end());
    EXPECT_THAT(advice->copy, HasSubstr("torch.onnx.export"));
}

TEST_F(OnnxImportOf, CanBeGivenUp) {
    struct GivenUp {};
    const WorkScope scope([](double) { throw GivenUp(); });
    EXPECT_THROW(golden("parts"), GivenUp);
}

TEST_F(OnnxImportOf, ListsAllThatIsNotRead) {
    MadeOnnx model;
    model.node("NonZero", {"x"}, {"a"}, "first").node("NonZero", {"x"}, {"b"}, "second").node("Relu", {"a"}, {"c"}).node("Loop", {"x"}, {"y"}, "third");
    EXPECT_THAT(refused(model), AllOf(HasSubstr("3 nodes"), HasSubstr("2 x NonZero"), HasSubstr("first, second"), HasSubstr("1 x Loop"), Not(HasSubstr("Relu"))));
    try {
        made(model);
        ADD_FAILURE() << "not refused";
    } catch (const OnnxRefused& error) {
        ASSERT_EQ(error.all().size(), 2U);
        EXPECT_THAT(error.all()[1].nodes, testing::ElementsAre("first", "second"));
    }
    MadeOnnx other;
    other.node("FusedConv", {"x"}, {"y"}, "f", "com.microsoft");
    EXPECT_THAT(refused(other), HasSubstr("com.microsoft::FusedConv"));
}

TEST_F(OnnxImportOf, RefusesGraphsThatAreNone) {
    EXPECT_THAT(refused(MadeOnnx().node("Relu", {"z"}, {"y"}, "late")), HasSubstr("late of this ONNX model takes z"));
    EXPECT_THAT(refused(MadeOnnx().node("Relu", {"b"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Relu", {"b"}, {"y"})), HasSubstr("nothing gives before it"));
    EXPECT_THAT(refused(MadeOnnx().node("Relu", {"y"}, {"y"})), HasSubstr("takes y"));
    EXPECT_THAT(refused(MadeOnnx().node("Relu", {"x"}, {"y"}).node("Tanh", {"x"}, {"y"})), HasSubstr("the name y twice"));
    EXPECT_THAT(refused(MadeOnnx().node("Relu", {"x"}, {"z"})), HasSubstr("output of this ONNX model takes y"));
    EXPECT_THAT(refused(MadeOnnx(29).node("Relu", {"x"}, {"y"})), HasSubstr("opset 29"));
    EXPECT_THAT(refused(MadeOnnx(8).node("Relu", {"x"}, {"y"})), HasSubstr("opset 8"));
    EXPECT_THAT(refused(MadeOnnx(18, {0, 0}).node("Relu", {"x"}, {"y"})), HasSubstr("not given"));
}

TEST_F(OnnxImportOf, RefusesConstantsThatGrowBeyondMeasure) {
    MadeOnnx model;
    model.wholes("shape", {1 << 20, 1 << 20, 1 << 20}).wholes("one", {1}).node("Expand", {"one", "shape"}, {"a"}).node("Reshape", {"x", "a"}, {"y"});
    EXPECT_THAT(refused(model), HasSubstr("beyond all measure"));
    MadeOnnx range;
    range.wholes("a", {0}, {}).wholes("b", {std::int64_t{1} << 60}, {}).wholes("c", {1}, {}).node("Range", {"a", "b", "c"}, {"r"}).node("Reshape", {"x", "r"}, {"y"});
    EXPECT_THAT(refused(range), HasSubstr("beyond all measure"));
}

std::string raw_floats(const std::vector<float>& numbers) { return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float)}; }

TEST_F(OnnxImportOf, WritesOutNumbersThatAreRepeated) {
    MadeOnnx filled;
    filled.floats("q", {2}, raw_floats({1, 2})).wholes("two", {2}).node("ConstantOfShape", {"two"}, {"z"}).node("Concat", {"q", "z"}, {"c"}).node("Add", {"x", "c"}, {"y"});
    EXPECT_THAT(made(filled).tensors.at(0).numbers, testing::ElementsAre(1, 2, 0, 0));
    MadeOnnx expanded;
    expanded.floats("q", {2, 1}, raw_floats({1, 2})).wholes("square", {2, 2}).wholes("four", {4});
    expanded.node("Expand", {"q", "square"}, {"e"}).node("Reshape", {"e", "four"}, {"c"}).node("Add", {"x", "c"}, {"y"});
    EXPECT_THAT(made(expanded).tensors.at(0).numbers, testing::ElementsAre(1, 1, 2, 2));
}

TEST_F(OnnxImportOf, WritesOperatorsWithoutALayerAsSeveral) {
    const auto text = [&](const MadeOnnx& model) { return made(model).text; };
    EXPECT_THAT(text(MadeOnnx().floats("e", {}, raw_floats({3})).node("Pow", {"x", "e"}, {"y"})), HasSubstr("Mul from"));
    EXPECT_THAT(text(MadeOnnx().floats("b", {4}, raw_floats({1, 2, 3, 4})).node("Greater", {"x", "b"}, {"t"}).node("Where", {"t", "x", "b"}, {"y"})), AllOf(HasSubstr("Sub"), HasSubstr("ReLU"), HasSubstr("Where")));
    EXPECT_THAT(text(MadeOnnx().wholes("i", {3, 0, 1}).node("Gather", {"x", "i"}, {"g"}, "g", "", {{"axis", 1}}).node("Relu", {"g"}, {"y"})), AllOf(HasSubstr("Slice(1, 3, 4)"), HasSubstr("Slice(1, 0, 2)"), HasSubstr("Concat")));
    EXPECT_THAT(text(MadeOnnx().wholes("a", {-1}).wholes("b", {-9}).wholes("c", {1}).node("Slice", {"x", "a", "b", "c", "a"}, {"s"}).node("Relu", {"s"}, {"y"})), HasSubstr("Flip(1)"));
    EXPECT_THAT(text(MadeOnnx().wholes("r", {1, 2}).node("Tile", {"x", "r"}, {"t"}).node("Relu", {"t"}, {"y"})), HasSubstr("Concat from"));
    EXPECT_THAT(text(MadeOnnx().wholes("a", {1}).node("ReduceLogSumExp", {"x", "a"}, {"y"})), AllOf(HasSubstr("Max(1, keepdim=true)"), HasSubstr("Exp"), HasSubstr("Log")));
}

TEST_F(OnnxImportOf, PutsFunctionsInThePlacesOfTheirCalls) {
    MadeOnnx model;
    model.function("Inner", {{"", "Relu"}, {"", "Tanh"}}).function("Outer", {{"own", "Inner"}, {"own", "Inner"}});
    model.node("Outer", {"x"}, {"y"}, "call", "own");
    EXPECT_THAT(made(model).text, HasSubstr("repeat 2:\n    ReLU\n    Tanh\n"));
}

TEST_F(OnnxImportOf, RefusesFunctionsThatGrowOrCallThemselves) {
    MadeOnnx growing;
    growing.function("F0", {{"", "Relu"}});
    for (int i = 1; i < 8; ++i) growing.function("F" + std::to_string(i), std::vector<std::pair<std::string, std::string>>(10, {"own", "F" + std::to_string(i - 1)}));
    EXPECT_THAT(refused(growing.node("F7", {"x"}, {"y"}, "call", "own")), HasSubstr("beyond 100000 nodes"));
    MadeOnnx endless;
    endless.function("F", {{"own", "F"}}).node("F", {"x"}, {"y"}, "call", "own");
    EXPECT_THAT(refused(endless), HasSubstr("more than 8 deep"));
}

TEST_F(OnnxImportOf, TakesTheBranchOfAKnownCondition) {
    const auto model = [](std::int64_t size) { return MadeOnnx().wholes("c", {size}, {}).branches("c", "y", "Relu", "Tanh"); };
    EXPECT_THAT(made(model(1)).text, AllOf(HasSubstr("ReLU"), Not(HasSubstr("Tanh"))));
    EXPECT_THAT(made(model(0)).text, AllOf(HasSubstr("Tanh"), Not(HasSubstr("ReLU"))));
    EXPECT_THAT(refused(MadeOnnx().branches("x", "y", "Relu", "Tanh")), HasSubstr("its condition follows from the input"));
}

TEST_F(OnnxImportOf, RefusesWhatItsLayersWouldComputeOtherwise) {
    const std::string four = raw_floats({1, 2, 3, 4});
    std::string square;
    for (int i = 0; i < 4; ++i) square += four;
    EXPECT_THAT(refused(MadeOnnx(18, {4, 4}).floats("w", {4, 4}, square).floats("b", {4, 1}, four).node("Gemm", {"x", "w", "b"}, {"y"})), HasSubstr("no row"));
    EXPECT_THAT(refused(MadeOnnx(18, {1, 2, 2, 3}).floats("s", {4}, four).node("PRelu", {"x", "s"}, {"y"})), HasSubstr("do not fit each other"));
    EXPECT_THAT(refused(MadeOnnx().wholes("a", {3, 3}).node("Unsqueeze", {"x", "a"}, {"y"})), HasSubstr("a dimension twice"));
    EXPECT_THAT(refused(MadeOnnx().wholes("a", {0, 1}).wholes("b", {9, 9}).wholes("c", {1}).node("Slice", {"x", "a", "b", "a", "c"}, {"y"})), HasSubstr("do not fit"));
    EXPECT_THAT(refused(MadeOnnx().wholes("a", {}).node("Range", {"a", "a", "a"}, {"r"}).node("Reshape", {"x", "r"}, {"y"})), HasSubstr("do not fit each other"));
    EXPECT_THAT(refused(MadeOnnx().node("Dropout", {"x"}, {"d", "mask"}).node("Not", {"mask"}, {"y"})), HasSubstr("such as a mask"));
}

}  // namespace
}  // namespace engine::test
