#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/ops/op_script.h"
#include "io/safetensors/tensor_file.h"
#include "temp_folder.h"

namespace engine {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Extreme cases. Each must give an error, and the next case must still run.
class OpScriptExtremes : public testing::Test {
protected:
    /// The error of a call with one tensor of ones.
    std::string error_text(const std::string& op, const Shape& shape, const std::string& attrs,
                           const TensorMap& more = {}) {
        TensorMap input{{"0", Tensor::full(shape, 1, DType::f32)}};
        input.insert(more.begin(), more.end());
        return error_of_line(R"({"op":")" + op + R"(","attrs":)" + attrs + "," + files(input));
    }

    std::string error_of_line(const std::string& line) {
        const std::string good =
            R"({"op":"exp",)" + files({{"0", Tensor::full({1}, 0, DType::f32)}}, "good");
        std::istringstream cases(line + "\n" + good + "\n");
        std::stringstream results;
        EXPECT_EQ(run_op_script(cases, results), 0);
        std::string first, second, third;
        std::getline(results, first);
        std::getline(results, second);
        EXPECT_FALSE(std::getline(results, third)) << third;
        EXPECT_TRUE(json::parse(second).contains("out")) << second;
        return json::parse(first).value("error", "no error: " + first);
    }

    /// The fields for the files of a case.
    std::string files(const TensorMap& input, const std::string& name = "case") {
        const std::string in = (folder_ / (name + ".in")).string();
        save_tensors(in, input);
        return R"("in":")" + in + R"(","out":")" + (folder_ / (name + ".out")).string() + "\"}";
    }

    test_support::TempFolder folder_;
};

std::string list_of(int count, const std::string& number) {
    std::string out = "[";
    for (int i = 0; i < count; ++i) out += (i > 0 ? "," : "") + number;
    return out + "]";
}

const std::string two_62 = "4611686018427387904";

TEST_F(OpScriptExtremes, MoreThanEightDimensionsAreRefused) {
    const std::string wanted = "at most 8 dimensions, not ";
    EXPECT_THAT(error_text("reshape", {1}, R"({"shape":)" + list_of(21, "1") + "}"),
                HasSubstr(wanted + "21"));
    EXPECT_THAT(error_text("expand", {1}, R"({"size":)" + list_of(9, "1") + "}"),
                HasSubstr(wanted + "9"));
    EXPECT_THAT(error_text("permute", {1}, R"({"dims":)" + list_of(40, "0") + "}"),
                HasSubstr(wanted + "40"));
    for (const char* op : {"layer_norm", "native_layer_norm", "rms_norm"})
        EXPECT_THAT(error_text(op, {2}, R"({"normalized_shape":)" + list_of(40, "0") + "}"),
                    HasSubstr(wanted + "40"));
    EXPECT_THAT(error_text("unsqueeze", {1, 1, 1, 1, 1, 1, 1, 1}, R"({"dim":0})"),
                HasSubstr(wanted + "9"));
}

TEST_F(OpScriptExtremes, ProductsOfSizesThatOverflowAreRefused) {
    EXPECT_THAT(error_text("repeat", {1}, R"({"repeats":[)" + two_62 + "," + two_62 + "]}"),
                HasSubstr("too large"));
    EXPECT_THAT(error_text("repeat", {3, 3}, R"({"repeats":[)" + two_62 + "," + two_62 + "]}"),
                HasSubstr("multiply"));
    EXPECT_THAT(error_text("expand", {1}, R"({"size":[)" + two_62 + "," + two_62 + "]}"),
                HasSubstr("too large"));
    for (const char* op : {"adaptive_avg_pool2d", "adaptive_max_pool2d"})
        for (const std::string& size : {std::string("2147483648"), two_62})
            EXPECT_THAT(
                error_text(op, {1, 1, 2, 2}, R"({"output_size":[)" + size + "," + size + "]}"),
                HasSubstr("too large"))
                << op;
    EXPECT_THAT(error_text("pixel_shuffle", {1, 1, 2, 2}, R"({"upscale_factor":)" + two_62 + "}"),
                HasSubstr("multiply"));
    EXPECT_THAT(
        error_text("replication_pad2d", {1, 1, 2, 2}, R"({"padding":[)" + two_62 + ",0,1,2]}"),
        HasSubstr("too large"));
    EXPECT_THAT(error_text("constant_pad_nd", {2}, R"({"pad":[)" + two_62 + "," + two_62 + "]}"),
                HasSubstr("add up"));
}

TEST_F(OpScriptExtremes, WindowsBeyond32BitsAreRefused) {
    const TensorMap weight{{"1", Tensor::full({1, 1, 1, 1}, 1, DType::f32)}};
    for (const std::string option : {"dilation", "stride", "padding"}) {
        const std::string attrs = R"({")" + option + R"(":)" + two_62 + "}";
        EXPECT_THAT(error_text("conv2d", {1, 1, 2, 2}, attrs, weight), HasSubstr("at most"))
            << attrs;
        EXPECT_THAT(error_text("conv_transpose2d", {1, 1, 2, 2}, attrs, weight),
                    HasSubstr("at most"))
            << attrs;
    }
    EXPECT_THAT(error_text("max_pool2d", {1, 1, 2, 2}, R"({"dilation":)" + two_62 + "}"),
                HasSubstr("kernel, stride and dilation"));
    EXPECT_THAT(error_text("im2col", {1, 1, 2, 2}, R"({"dilation":)" + two_62 + "}"),
                HasSubstr("at most"));
}

TEST_F(OpScriptExtremes, MemoryThatNoMachineHasIsRefused) {
    const std::string wanted = "Out of memory";
    EXPECT_THAT(error_text("repeat", {1}, R"({"repeats":1099511627776})"), HasSubstr(wanted));
    EXPECT_THAT(error_text("im2col", {1, 1, 2, 2}, R"({"kernel_size":1,"padding":1048576})"),
                HasSubstr(wanted));
    EXPECT_THAT(error_text("col2im", {1, 1, 1}, R"({"output_size":1048576})"), HasSubstr(wanted));
    EXPECT_THAT(
        error_text("upsample_bicubic2d", {1, 1, 1, 1}, R"({"output_size":[1099511627776,1]})"),
        HasSubstr(wanted));
    EXPECT_THAT(error_text("upsample_nearest1d", {1, 1, 1}, R"({"scale_factors":[1e300]})"),
                HasSubstr("too large"));
}

// The kernels' scratch memory is as large as an image with its padding.
TEST_F(OpScriptExtremes, ScratchThatNoMachineHasIsRefused) {
    const TensorMap weight{{"1", Tensor::full({1, 1, 3, 3}, 1, DType::f32)}};
    EXPECT_THAT(error_text("conv2d", {1, 1, 1, 1},
                           R"({"dilation":2147483647,"padding":2147483647})", weight),
                HasSubstr("too large"));
    EXPECT_THAT(
        error_text("conv2d", {1, 1, 1, 1}, R"({"dilation":1048576,"padding":1048576})", weight),
        HasSubstr("out of memory"));
}

TEST_F(OpScriptExtremes, ThousandsOfEmptyPartsAreFineAndMillionsAreRefused) {
    EXPECT_THAT(error_text("chunk", {0}, R"({"chunks":4294967296})"), HasSubstr("parts"));
    EXPECT_THAT(error_text("unbind", {std::int64_t{1} << 40, 0}, "{}"), HasSubstr("parts"));
    EXPECT_THAT(error_text("chunk", {0}, R"({"chunks":5000})"), HasSubstr("no error"));
}

TEST_F(OpScriptExtremes, ReshapeTakesOneOpenSizeAndNoOtherNegativeOne) {
    EXPECT_THAT(error_text("reshape", {6}, R"({"shape":[-2,-3]})"), HasSubstr("negative"));
    EXPECT_THAT(error_text("reshape", {6}, R"({"shape":[-1,-1]})"), HasSubstr("negative"));
    EXPECT_THAT(error_text("reshape", {0}, R"({"shape":[-1,0]})"), HasSubstr("does not fill"));
}

TEST_F(OpScriptExtremes, NumbersBeyond64BitsAreNoWholeNumbers) {
    EXPECT_THAT(error_text("reshape", {6}, R"({"shape":18446744073709551615})"),
                HasSubstr("whole numbers"));
    EXPECT_THAT(error_text("reshape", {6}, R"({"shape":[18446744073709551615]})"),
                HasSubstr("whole numbers"));
    EXPECT_THAT(error_text("exp", {6}, R"({"strides":{"0":[18446744073709551615]}})"),
                HasSubstr("whole numbers"));
    EXPECT_THAT(error_text("exp", {6}, R"({"strides":{"0":[1.5]}})"), HasSubstr("whole numbers"));
}

TEST_F(OpScriptExtremes, DeepBracketsAreRefused) {
    const std::string open(100000, '['), close(100000, ']');
    const TensorMap one{{"0", Tensor::full({1}, 1, DType::f32)}};
    EXPECT_THAT(error_of_line(R"({"op":"exp","autocast":)" + open + close + "," + files(one)),
                HasSubstr("nested too deeply"));
    EXPECT_THAT(error_of_line(R"({"op":"exp","attrs":{"dim":)" + open + close + "}," + files(one)),
                HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace engine
