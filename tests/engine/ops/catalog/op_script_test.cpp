#include "engine/models/recipe_script.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "io/safetensors/tensor_file.h"
#include "ops/catalog/op_case.h"
#include "temp_folder.h"
#include "tensor/cast.h"
#include "tensor/layout.h"

namespace engine {
namespace {

class OpScript : public testing::Test {
protected:
    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    /// Runs one case and returns its result file, or an empty map after an error.
    TensorMap run(const std::string& fields, const TensorMap& input) {
        save_tensors(path("in"), input);
        std::istringstream cases("{" + fields + R"(,"in":")" + path("in") + R"(","out":")" +
                                 path("out") + "\"}\n");
        std::ostringstream results;
        EXPECT_EQ(run_op_script_with_recipes(cases, results), 0);
        line_ = results.str();
        if (line_.find("error") != std::string::npos) return {};
        return load_tensors(path("out"));
    }

    test_support::TempFolder folder_;
    std::string line_;
};

Tensor numbers(const std::vector<double>& values, const Shape& shape, DType dtype = DType::f32) {
    return Tensor::of(values, shape, dtype);
}

TEST_F(OpScript, WritesTheOutputAndTheGradientsOfFloatingInputs) {
    const auto out =
        run(R"("op":"linear","attrs":{},"grad":true)", {{"0", numbers({1, 2}, {1, 2})},
                                                        {"1", numbers({3, 4, 5, 6}, {2, 2})},
                                                        {"2", numbers({1, 1}, {2})},
                                                        {"grad_output", numbers({1, 10}, {1, 2})}});
    EXPECT_EQ(out.at("output").values(), (std::vector<double>{12, 18}));
    EXPECT_EQ(out.at("grad.0").values(), (std::vector<double>{53, 64}));
    EXPECT_EQ(out.at("grad.1").values(), (std::vector<double>{1, 2, 10, 20}));
    EXPECT_EQ(out.at("grad.2").values(), (std::vector<double>{1, 10}));
    EXPECT_EQ(out.size(), 4u);
}

// Scales and codes by hand: 448 / 7 = 64, and blocks of E8M0.
TEST_F(OpScript, QuantizesAMatrix) {
    const TensorMap x{{"0", numbers({7, -0.5, 1, 0}, {2, 2})}};
    const auto tensor = run(R"("op":"quantize","attrs":{"format":"e4m3","scale":"tensor"})", x);
    EXPECT_EQ(tensor.at("codes").values(), (std::vector<double>{0x7e, 0x80 + 0x60, 0x68, 0}));
    EXPECT_EQ(tensor.at("inverse").values(), (std::vector<double>{1 / 64.}));
    EXPECT_EQ(tensor.at("output").values(), (std::vector<double>{7, -0.5, 1, 0}));
    const auto mx = run(
        R"("op":"quantize","attrs":{"format":"e2m1","scale":"mx","block":2,"dim":0})", x);
    EXPECT_EQ(mx.at("scales").values(), (std::vector<double>{128, 124}))
        << "7 / 6 and 0.5 / 6, rounded up to powers of two";
    EXPECT_EQ(mx.at("output").values(), (std::vector<double>{8, -0.5, 1, 0}));
    const auto nv = run(R"("op":"quantize","attrs":{"format":"e2m1","scale":"two-level"})", x);
    EXPECT_EQ(nv.at("scales").numel(), 2);
    EXPECT_NEAR(nv.at("output").values().front(), 7, 1e-6);
}

TEST_F(OpScript, QuantizesAtRandomByItsSeed) {
    const TensorMap x{{"0", numbers(std::vector<double>(64, 0.3), {4, 16})}};
    const auto codes = [&](const std::string& seed) {
        return run(R"("op":"quantize","attrs":{"format":"e2m1","scale":"mx","round":"stochastic","seed":)" +
                       seed + "}",
                   x)
            .at("output")
            .values();
    };
    EXPECT_EQ(codes("1"), codes("1"));
    EXPECT_NE(codes("1"), codes("2"));
    double sum = 0;
    for (int seed = 0; seed < 20; ++seed)
        for (const double value : codes(std::to_string(seed))) sum += value;
    EXPECT_NEAR(sum / 1280, 0.3, 0.009);  // neighbours 0.25 and 0.375: 5 sigma are 0.009
}

TEST_F(OpScript, RefusesCastsThatItDoesNotKnow) {
    const TensorMap x{{"0", numbers({1, 2}, {1, 2})}};
    const auto refused = [&](const std::string& attrs, const std::string& sentence) {
        run(R"("op":"quantize","attrs":)" + attrs, x);
        EXPECT_NE(line_.find(sentence), std::string::npos) << line_;
    };
    refused(R"({"format":"e3m4"})", "attrs.format: one of e4m3, e5m2, e2m1");
    refused(R"({"scale":"mx","block":0})", "attrs.block: from 1 to");
    refused(R"({"axis":1})", "attrs.axis: no attribute of quantize");
    refused(R"({"scale":"mx","square":true,"round":"stochastic"})", "attrs.round: nearest where");
    run(R"("op":"quantize")", {{"0", numbers({1}, {1})}});
    EXPECT_NE(line_.find("the matrix 0"), std::string::npos) << line_;
}

TEST_F(OpScript, ComputesLinearByARecipe) {
    const TensorMap x{{"0", numbers({1, 1.0625}, {1, 2})},
                      {"1", numbers({1, 0, 0, 1}, {2, 2})},
                      {"grad_output", numbers({1, 1.3}, {1, 2})}};
    const auto out = run(R"("op":"linear","recipe":"mxfp8","grad":true)", x);
    // Both are scaled by 256, a power of two: E4M3 has 3 fraction bits, and 1.0625 is a tie.
    EXPECT_EQ(out.at("output").values(), (std::vector<double>{1, 1}));
    EXPECT_EQ(out.at("grad.0").values(), (std::vector<double>{1, 1.25}));
    run(R"("op":"linear","recipe":"fp6")", x);
    EXPECT_NE(line_.find("a name of halftone recipes, not fp6"), std::string::npos) << line_;
}

Tensor integers(const std::vector<std::int64_t>& values) {
    const Tensor x = Tensor::empty({std::ssize(values)}, DType::i64, Device{});
    x.copy_from_host(values.data());
    return x;
}
std::vector<std::int64_t> integers_of(const Tensor& x) {
    const auto* first = x.data_as<const std::int64_t>();
    return {first, first + x.numel()};
}

TEST_F(OpScript, WholeNumbersBesideIntegersStayIntegers) {
    constexpr std::int64_t two53 = std::int64_t{1} << 53;
    const TensorMap x{{"0", integers({two53 + 1, 3, -7})}};
    using Wanted = std::vector<std::int64_t>;
    const std::vector<std::pair<std::string, Wanted>> cases = {
        {R"("op":"add","attrs":{"other":2})", {two53 + 3, 5, -5}},
        {R"("op":"add","attrs":{"other":9007199254740993})", {2 * two53 + 2, two53 + 4, two53 - 6}},
        {R"("op":"sub","attrs":{"other":1,"alpha":3})", {two53 - 2, 0, -10}},
        {R"("op":"mul","attrs":{"other":-1})", {-two53 - 1, -3, 7}},
        {R"("op":"pow","attrs":{"exponent":1})", {two53 + 1, 3, -7}},
        {R"("op":"fmod","attrs":{"other":4})", {1, 3, -3}},
        {R"("op":"remainder","attrs":{"other":4})", {1, 3, 1}},
        {R"("op":"add_","attrs":{"other":2})", {two53 + 3, 5, -5}},
        {R"("op":"pow_","attrs":{"exponent":1})", {two53 + 1, 3, -7}}};
    for (const auto& [fields, wanted] : cases) {
        const auto out = run(fields, x);
        ASSERT_TRUE(out.contains("output")) << fields << line_;
        ASSERT_EQ(out.at("output").dtype(), DType::i64) << fields;
        EXPECT_EQ(integers_of(out.at("output")), wanted) << fields;
    }
    const auto power = run(R"("op":"rpow","attrs":{"other":3})", {{"0", integers({0, 39, 40})}});
    EXPECT_EQ(integers_of(power.at("output")),
              (Wanted{1, 4052555153018976267, -6289078614652622815}));
    const auto of_two = run(R"("op":"pow")", {{"0", integers({3})}, {"1", integers({39})}});
    EXPECT_EQ(integers_of(of_two.at("output")), Wanted{4052555153018976267});
    const auto scaled = run(R"("op":"add","attrs":{"alpha":3})", {{"0", integers({1})}, {"1", integers({two53 + 1})}});
    EXPECT_EQ(integers_of(scaled.at("output")), Wanted{3 * two53 + 4});
    EXPECT_EQ(run(R"("op":"mul","attrs":{"other":0.5})", x).at("output").dtype(), DType::f32);
    EXPECT_EQ(run(R"("op":"pow","attrs":{"exponent":2.0})", x).at("output").dtype(), DType::f32);
    const auto bytes = run(R"("op":"mul")", {{"0", numbers({200, 3}, {2}, DType::u8)},
                                             {"1", numbers({2, 5}, {2}, DType::u8)}});
    EXPECT_EQ(bytes.at("output").dtype(), DType::u8);
    EXPECT_EQ(bytes.at("output").values(), (std::vector<double>{144, 15}));
    const auto differences = run(R"("op":"sub")", {{"0", numbers({2}, {1}, DType::u8)},
                                                   {"1", numbers({5}, {1}, DType::u8)}});
    EXPECT_EQ(differences.at("output").values(), (std::vector<double>{253}));
}

TEST_F(OpScript, RefusesWhatPytorchRefusesOfIntegers) {
    const TensorMap x{{"0", integers({1, 2})}};
    for (const char* fields :
         {R"("op":"add_","attrs":{"other":0.5})", R"("op":"mul_","attrs":{"other":1.5})",
          R"("op":"pow","attrs":{"exponent":-1})", R"("op":"pow_","attrs":{"exponent":-2})",
          R"("op":"fmod","attrs":{"other":0})", R"("op":"remainder","attrs":{"other":0})",
          R"("op":"exp_")"})
        EXPECT_TRUE(run(fields, x).empty()) << fields;
    EXPECT_TRUE(run(R"("op":"add","attrs":{"alpha":0.5})",
                    {{"0", integers({1})}, {"1", integers({1})}})
                    .empty());
}

TEST_F(OpScript, IntegersAreAddedByIndex) {
    constexpr std::int64_t two53 = std::int64_t{1} << 53;
    const TensorMap x{{"0", integers({two53, 5})}, {"1", integers({0, 0, 1})}, {"2", integers({1, 2, -7})}};
    const auto out = run(R"("op":"index_add","attrs":{"dim":0})", x);
    EXPECT_EQ(integers_of(out.at("output")), (std::vector<std::int64_t>{two53 + 3, -2}));
    const auto scaled = run(R"("op":"index_add","attrs":{"dim":0,"alpha":2})", x);
    EXPECT_EQ(integers_of(scaled.at("output")), (std::vector<std::int64_t>{two53 + 6, -9}));
    const auto scattered = run(R"("op":"scatter_add","attrs":{"dim":0})", x);
    EXPECT_EQ(integers_of(scattered.at("output")), (std::vector<std::int64_t>{two53 + 3, -2}));
    EXPECT_TRUE(run(R"("op":"index_add","attrs":{"dim":0,"alpha":0.5})", x).empty());
}

TEST_F(OpScript, AnAutocastRegionShowsInTheTypesOfTheResult) {
    const TensorMap in{{"0", numbers({1, 2}, {1, 2})},
                       {"1", numbers({3, 4}, {1, 2})},
                       {"grad_output", numbers({1}, {1, 1}, DType::f16)}};
    const auto out = run(R"("op":"linear","autocast":"fp16","grad":true)", in);
    EXPECT_EQ(out.at("output").dtype(), DType::f16);
    EXPECT_EQ(out.at("grad.1").dtype(), DType::f32);
    EXPECT_EQ(run(R"("op":"linear","autocast":"bf16")", in).at("output").dtype(), DType::bf16);
    EXPECT_EQ(run(R"("op":"linear","autocast":null)", in).at("output").dtype(), DType::f32);
}

TEST_F(OpScript, GradGradIsTheGradientOfTheWeightedGradients) {
    // y = x^3 and grad = 3 x^2 g. The gradients of sum(grad v) are 6 x g v by x and 3 x^2 v by g.
    const auto out = run(R"("op":"pow","attrs":{"exponent":3},"grad":true,"grad_grad":true)",
                         {{"0", numbers({2}, {1}, DType::f64)},
                          {"grad_output", numbers({5}, {1}, DType::f64)},
                          {"v.0", numbers({7}, {1}, DType::f64)}});
    EXPECT_EQ(out.at("grad.0").item(), 60);
    EXPECT_EQ(out.at("grad_grad.0").item(), 420);
    EXPECT_EQ(out.at("grad_grad.output").item(), 84);
}

TEST_F(OpScript, TakesListsOfTensors) {
    const auto out = run(R"("op":"cat","attrs":{"dim":0},"grad":true)",
                         {{"0.0", numbers({1}, {1})},
                          {"0.1", numbers({2, 3}, {2})},
                          {"grad_output", numbers({4, 5, 6}, {3})}});
    EXPECT_EQ(out.at("output").values(), (std::vector<double>{1, 2, 3}));
    EXPECT_EQ(out.at("grad.0.1").values(), (std::vector<double>{5, 6}));
}

TEST_F(OpScript, LaysAnInputOutByTheStridesGiven) {
    const Tensor x = numbers({1, 2, 3, 4, 5, 6}, {2, 3});
    const auto out = run(R"("op":"relu","attrs":{"strides":{"0":[1,2]}},"grad":true)",
                         {{"0", x}, {"grad_output", x}});
    EXPECT_EQ(out.at("output").values(), x.values());
    EXPECT_EQ(out.at("grad.0").values(), x.values());
    run(R"("op":"relu","attrs":{"strides":{"0":[1]}})", {{"0", x}});
    EXPECT_NE(line_.find("error"), std::string::npos);
}

TEST_F(OpScript, DropoutTakesItsMaskAndAnAbsentArgumentIsLeftOut) {
    const Tensor x = numbers({1, 2}, {2});
    EXPECT_EQ(run(R"("op":"dropout","attrs":{"p":0.5})",
                  {{"0", x}, {"1", numbers({0, 1}, {2}, DType::boolean)}})
                  .at("output")
                  .values(),
              (std::vector<double>{0, 4}));
    // pos_weight is argument 3. Argument 2, weight, is omitted.
    const auto loss =
        run(R"("op":"binary_cross_entropy_with_logits","attrs":{"reduction":"sum"})",
            {{"0", numbers({0}, {1})}, {"1", numbers({1}, {1})}, {"3", numbers({2}, {1})}});
    EXPECT_NEAR(loss.at("output").item(), 2 * 0.69314718, 1e-6);
}

TEST_F(OpScript, AFailingCaseIsALineWithItsErrorAndTheNextOneRuns) {
    save_tensors(path("in"), {{"0", numbers({1}, {1})}});
    const std::string files = R"("in":")" + path("in") + R"(","out":")" + path("out") + "\"}\n";
    std::istringstream cases(R"({"op":"no_such_op",)" + files + "not json\n" +
                             R"({"op":"exp","in":"/does/not/exist","out":"x"})" + "\n\n" +
                             R"({"op":"exp","autocast":"fp8",)" + files + R"({"op":"mm",)" + files +
                             R"({"op":"exp",)" + files);
    std::ostringstream results;
    EXPECT_EQ(run_op_script_with_recipes(cases, results), 0);
    std::istringstream lines(results.str());
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) found.push_back(line);
    ASSERT_EQ(found.size(), 6u);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_NE(found[i].find("{\"error\":"), std::string::npos);
    EXPECT_NE(found[0].find("no_such_op"), std::string::npos);
    EXPECT_NE(found[2].find("No such file or directory. Give a safetensors file."),
              std::string::npos)
        << found[2];
    EXPECT_NE(found[5].find("{\"out\":"), std::string::npos);
}

TEST_F(OpScript, InputsThatDoNotFitTheCallAreErrors) {
    run(R"("op":"exp","grad":true)", {{"0", numbers({1}, {1})}});
    EXPECT_NE(line_.find("grad_output"), std::string::npos);
    run(R"("op":"cat")", {{"0.1", numbers({1}, {1})}});
    EXPECT_NE(line_.find("gap"), std::string::npos);
    run(R"("op":"exp","device":"tpu")", {{"0", numbers({1}, {1})}});
    EXPECT_NE(line_.find("tpu"), std::string::npos);
}

TEST_F(OpScript, ArgumentsThatTheSignatureDoesNotNameAreRefused) {
    const TensorMap one{{"0", numbers({1, 2}, {2})}};
    run(R"("op":"div","attrs":{"other":2,"rounding_mode":"floor"})", one);
    EXPECT_NE(line_.find("rounding_mode"), std::string::npos) << line_;
    run(R"("op":"gelu","attrs":{"approximate":"sigmoid"})", one);
    EXPECT_NE(line_.find("not sigmoid"), std::string::npos) << line_;
    run(R"("op":"relu")", {{"0", numbers({1}, {1})}, {"1", numbers({1}, {1})}});
    EXPECT_NE(line_.find("no tensor argument 1"), std::string::npos) << line_;
    // null and false request nothing.
    const auto out = run(R"("op":"relu","attrs":{"inplace":false,"dtype":null})", one);
    EXPECT_EQ(out.at("output").values(), (std::vector<double>{1, 2}));
}

TEST_F(OpScript, ANumberTimesAlphaIsNotRoundedTo16BitsFirst) {
    // 0.1 in bf16 is 0.10009765625. Three times that differs by 3e-4.
    const TensorMap in{{"0", numbers({-0.30078125}, {1}, DType::bf16)}};
    const auto out = run(R"("op":"add","attrs":{"other":0.1,"alpha":3})", in);
    EXPECT_NEAR(out.at("output").item(), 0.3 - 0.30078125, 1e-5);
}

TEST_F(OpScript, ArgmaxWithoutADimensionCountsThroughAllElements) {
    const TensorMap one{{"0", numbers({1, 5, 7, 2, 7, 0}, {2, 3})}};
    EXPECT_EQ(run(R"("op":"argmax")", one).at("output").item(), 2);
    const auto kept = run(R"("op":"argmax","attrs":{"keepdim":true})", one).at("output");
    EXPECT_EQ(kept.shape(), (Shape{1, 1}));
}

TEST_F(OpScript, EveryTypeSurvivesAFile) {
    TensorMap all;
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,
                              DType::i32, DType::u8, DType::boolean})
        all[name(dtype)] = numbers({0, 1, 1}, {3}, dtype);
    all["scalar"] = numbers({3}, {});
    all["empty"] = numbers({}, {0, 2});
    save_tensors(path("all"), all);
    const auto back = load_tensors(path("all"));
    ASSERT_EQ(back.size(), all.size());
    for (const auto& [key, tensor] : all) {
        EXPECT_EQ(back.at(key).dtype(), tensor.dtype()) << key;
        EXPECT_EQ(back.at(key).shape(), tensor.shape()) << key;
        EXPECT_EQ(back.at(key).values(), tensor.values()) << key;
    }
}

}  // namespace
}  // namespace engine
