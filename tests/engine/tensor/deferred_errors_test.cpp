#include "tensor/deferred_errors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cuda_device.h"
#include "kernels/cuda_graph.h"
#include "needs_cuda.h"
#include "ops/pointwise/binary.h"
#include "support/expectations.h"
#include "tensor/check_values.h"
#include "tensor/device.h"
#include "tensor/tensor.h"

// Out-of-range values on a GPU, whose errors are deferred.
namespace engine {
namespace {

const Device gpu{Device::Kind::cuda, 0};

ValueRule rule(const std::string& op) { return {op + ": index ", " is out of range"}; }
Tensor whole_numbers(const std::vector<double>& values, const Device& device = gpu) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}, DType::i64, device);
}
void check_range(const std::string& op, const std::vector<double>& values,
                 const Device& device = gpu) {
    check_whole_values(rule(op), whole_numbers(values, device), 0, 4);
}

/// The message of the Error(value) that is thrown; empty if none is thrown.
std::string error_at_read(const Device& device = gpu) {
    const Tensor x = Tensor::scalar(2.5, DType::f32, device);
    return error_text(ErrorCode::value, [&] { EXPECT_EQ(x.item(), 2.5); });
}

TEST(DeferredErrors, AreToldByTheNextReadThatWaitsAndOnce) {
    HALFTONE_NEEDS_CUDA();
    check_range("embedding", {1, 7, 4});
    EXPECT_EQ(error_at_read(), "embedding: index 7 is out of range");
    EXPECT_EQ(error_at_read(), "") << "the device goes on";
    check_range("embedding", {1, 3, 4});
    EXPECT_EQ(error_at_read(), "");
    check_range("gather", {-1});
    EXPECT_EQ(error_text(ErrorCode::value, [] {
                  (void)whole_numbers({1, 2}).copy_to(Device{});
              }),
              "gather: index -1 is out of range");
    check_range("gather", {-2});
    EXPECT_EQ(error_text(ErrorCode::value, [] {
                  (void)whole_numbers({1, 2}).values();
              }),
              "gather: index -2 is out of range");
}

TEST(DeferredErrors, TheFirstWins) {
    HALFTONE_NEEDS_CUDA();
    check_range("fine", {0, 1});
    check_range("first", {9, 8});
    check_range("second", {5});
    check_range("first", {6});
    EXPECT_EQ(error_at_read(), "first: index 6 is out of range") << "the least of the rule's";
    EXPECT_EQ(error_at_read(), "");
}

TEST(DeferredErrors, AValueBeyondWhatANoteHoldsIsToldAsSuch) {
    HALFTONE_NEEDS_CUDA();
    check_range("embedding", {0x1p60});
    EXPECT_EQ(error_at_read(), "embedding: index 8796093022207 or more is out of range");
    check_range("embedding", {-0x1p60});
    EXPECT_EQ(error_at_read(), "embedding: index -8796093022208 or less is out of range");
}

TEST(DeferredErrors, BeyondTheLastRuleANoteSaysNoMoreThanThatThereWasAValue) {
    const auto said = deferred_error_in(std::uint64_t{kernels::max_deferred_rules}
                                        << kernels::deferred_value_bits);
    EXPECT_STREQ(said.value().what(), "an operation received an out-of-range value");
    EXPECT_FALSE(deferred_error_in(0).has_value());
}

TEST(DeferredErrors, WaitForNothingAndAReadWaitsOnceWithThem) {
    HALFTONE_NEEDS_CUDA();
    const Tensor x = Tensor::scalar(2, DType::f32, gpu), index = whole_numbers({1, 7});
    check_range("warm", {1});
    (void)x.item();
    const auto waits = [] { return kernels::cuda::call_counts().synchronizations; };
    const std::int64_t before = waits();
    check_whole_values(rule("embedding"), index, 0, 4);
    EXPECT_EQ(waits(), before);
    EXPECT_NE(error_text(ErrorCode::value, [&] { (void)x.item(); }), "");
    EXPECT_EQ(waits(), before + 1);
    EXPECT_EQ(error_text(ErrorCode::value, [&] { (void)x.item(); }), "");
    EXPECT_EQ(waits(), before + 2);
}

TEST(DeferredErrors, BelongToTheirDevice) {
    HALFTONE_NEEDS_CUDA();
    if (kernels::cuda::device_count() < 2) GTEST_SKIP() << "there are no two CUDA devices";
    const Device second{Device::Kind::cuda, 1};
    check_range("embedding", {7}, second);
    check_range("gather", {8}, gpu);
    EXPECT_EQ(error_at_read(second), "embedding: index 7 is out of range");
    EXPECT_EQ(error_at_read(second), "");
    EXPECT_EQ(error_at_read(gpu), "gather: index 8 is out of range");
}

TEST(DeferredErrors, CanBeForgotten) {
    HALFTONE_NEEDS_CUDA();
    check_range("embedding", {7});
    clear_deferred_errors(gpu);
    EXPECT_EQ(error_at_read(), "");
    clear_deferred_errors(Device{});
}

TEST(DeferredErrors, AreToldOfEachReplayThatBringsThemAbout) {
    HALFTONE_NEEDS_CUDA();
    const DeviceScope scope(gpu);
    const Tensor index = whole_numbers({1, 2});
    check_range("warm", {1});
    EXPECT_EQ(error_at_read(), "");
    kernels::cuda::begin_capture(current_stream());
    check_whole_values(rule("recorded"), index, 0, 4);
    const auto graph = kernels::cuda::end_capture(current_stream());
    graph->launch(current_stream());
    EXPECT_EQ(error_at_read(), "");
    const std::int64_t wrong[] = {1, 9};
    index.copy_from_host(wrong);
    for (int i = 0; i < 2; ++i) {
        graph->launch(current_stream());
        EXPECT_EQ(error_at_read(), "recorded: index 9 is out of range");
        EXPECT_EQ(error_at_read(), "");
    }
}

TEST(DeferredErrors, OnTheCpuAreThrownAtOnceAndNameTheFirst) {
    const Tensor x = whole_numbers({1, 9, 7}, Device{});
    EXPECT_EQ(error_text(ErrorCode::value, [&] { check_whole_values(rule("gather"), x, 0, 4); }),
              "gather: index 9 is out of range");
    EXPECT_EQ(error_text(ErrorCode::value, [&] { check_whole_values(rule("gather"), x, 0, 7, 9); }), "");
    const ValueRule positive{"x: ", " is negative", {}, false};
    const Tensor y = Tensor::of({1, NAN, -0.5, -2}, {4}, DType::f16, Device{});
    EXPECT_EQ(error_text(ErrorCode::value, [&] { check_values(positive, y, 0, INFINITY); }),
              "x: -0.500000 is negative");
    EXPECT_EQ(error_text(ErrorCode::value, [&] { check_values(positive, y, -2, 1); }), "");
}

}  // namespace
}  // namespace engine
