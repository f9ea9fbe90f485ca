#include <limits>

#include "kernels/deferred_error.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/softmax.h"
#include "kernels/step_ends.h"
#include "kernels/step_figures.h"

namespace kernels::test {
namespace {

Buffer whole(const std::vector<std::int64_t>& values) {
    Buffer x(DType::i64, static_cast<std::int64_t>(values.size()));
    for (std::size_t i = 0; i < values.size(); ++i) x.as<std::int64_t>()[i] = values[i];
    return x;
}

/// The word on the device in which an error is recorded.
struct Noted {
    DeviceValue<DeferredError> word{DeferredError{0}};

    DeferredErrorPlace place(std::uint32_t rule) const { return {word.get(), rule}; }
    DeferredError read() const { return word.host(); }
};

TEST(DeferredError, KeepsTheOrderOfValuesAndTheValues) {
    const std::int64_t numbers[] = {min_noted, -5, -1, 0, 1, 200, max_noted};
    for (std::size_t i = 0; i < std::size(numbers); ++i) {
        EXPECT_EQ(whole_value_of(code_of(numbers[i])), numbers[i]);
        if (i > 0) {
            EXPECT_LT(code_of(numbers[i - 1]), code_of(numbers[i]));
        }
    }
    EXPECT_EQ(whole_value_of(code_of(std::int64_t{1} << 60)), max_noted);
    EXPECT_EQ(whole_value_of(code_of(-(std::int64_t{1} << 60))), min_noted);
    const double values[] = {-inf, -3.4e38f, -1.5, -1e-40f, 0, 1e-40f, 0.1f, 1.5, inf};
    for (std::size_t i = 0; i < std::size(values); ++i) {
        EXPECT_EQ(value_of(code_of(values[i])), values[i]);
        if (i > 0) {
            EXPECT_LT(code_of(values[i - 1]), code_of(values[i]));
        }
    }
    // For f64, 33 bits are kept.
    EXPECT_NEAR(value_of(code_of(1.1)), 1.1, 0x1p-32);
    EXPECT_NEAR(value_of(code_of(-1.1)), -1.1, 0x1p-32);
}

TEST(CudaCheckWhole, NotesTheLeastOfTheValuesOutsideWhateverTheOrderOfThreads) {
    HALFTONE_NEEDS_CUDA();
    for (const std::int64_t n : {1, 33, 1000, 70'001}) {
        Buffer x(DType::i64, n);
        for (std::int64_t i = 0; i < n; ++i) x.as<std::int64_t>()[i] = i % 10;
        const Noted inside, outside;
        cuda::check_whole(inside.place(3), DeviceBuffer(x), {0, 9}, {});
        EXPECT_EQ(inside.read(), 0U);
        x.as<std::int64_t>()[n - 1] = 200;
        x.as<std::int64_t>()[n / 2] = 77;
        cuda::check_whole(outside.place(3), DeviceBuffer(x), {0, 9}, {});
        EXPECT_EQ(rule_of(outside.read()), 3U);
        EXPECT_EQ(whole_value_of(outside.read()), 77);
    }
}

TEST(CudaCheckWhole, LetsOneNumberPassThatLiesOutside) {
    HALFTONE_NEEDS_CUDA();
    const Noted here;
    cuda::check_whole(here.place(1), DeviceBuffer(whole({-100, 0, 4})), {0, 4, -100, true}, {});
    EXPECT_EQ(here.read(), 0U);
    cuda::check_whole(here.place(1), DeviceBuffer(whole({-100, -1, 4})), {0, 4, -100, true}, {});
    EXPECT_EQ(whole_value_of(here.read()), -1);
    const Noted nothing_fits;
    cuda::check_whole(nothing_fits.place(1), DeviceBuffer(whole({0})), {0, -1}, {});
    EXPECT_EQ(rule_of(nothing_fits.read()), 1U);
}

TEST(CudaCheckWhole, TakesNothingAndNotesNothingWithoutAPlace) {
    HALFTONE_NEEDS_CUDA();
    const Noted here;
    cuda::check_whole(here.place(1), DeviceBuffer(whole({})), {0, 4}, {});
    cuda::check_whole({}, DeviceBuffer(whole({7})), {0, 4}, {});
    EXPECT_EQ(here.read(), 0U);
}

TEST(CudaCheckNumbers, NotesNumbersBeyondItsEndsInEveryTypeButNoNaN) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        const Noted inside, above, below;
        const Buffer fits(dtype, {0, 0.5, 1, std::nan(""), -0.0});
        cuda::check_numbers(inside.place(2), DeviceBuffer(fits), 0, 1, {});
        EXPECT_EQ(inside.read(), 0U);
        cuda::check_numbers(above.place(2), DeviceBuffer(Buffer(dtype, {0.5, 2, 1.5})), 0, 1, {});
        EXPECT_EQ(value_of(above.read()), 1.5);
        cuda::check_numbers(below.place(2), DeviceBuffer(Buffer(dtype, {-0.25, 4, -inf})), 0, 1,
                            {});
        EXPECT_EQ(value_of(below.read()), -inf);
        EXPECT_EQ(rule_of(below.read()), 2U);
    }
}

TEST(CudaDeferredErrors, TheFirstRuleThatWasBrokenStaysUntilItIsTaken) {
    HALFTONE_NEEDS_CUDA();
    const Noted here, kept;
    const DeviceBuffer x(whole({5, 9}));
    cuda::check_whole(here.place(7), x, {0, 6}, {});
    cuda::check_whole(here.place(2), x, {0, 1}, {});
    cuda::check_whole(here.place(9), x, {6, 9}, {});
    EXPECT_EQ(rule_of(here.read()), 7U);
    EXPECT_EQ(whole_value_of(here.read()), 9);
    cuda::take_deferred_error(kept.word.get(), here.word.get(), {});
    EXPECT_EQ(here.read(), 0U);
    cuda::check_whole(here.place(2), x, {0, 1}, {});
    cuda::take_deferred_error(kept.word.get(), here.word.get(), {});
    EXPECT_EQ(rule_of(kept.read()), 7U) << "the first one taken stays, too";
    EXPECT_EQ(here.read(), 0U);
}

TEST(CudaCrossEntropy, NotesTheLeastClassThatThereIsNot) {
    HALFTONE_NEEDS_CUDA();
    for (const std::int64_t cols : {10, 1500, 20'000}) {
        const Noted here;
        const DeviceBuffer logits(random_buffer(DType::f32, 5 * cols, 2)),
            labels(whole({0, cols + 90, -100, cols + 20, 1})), stats(DType::f32, 10),
            losses(DType::f32, 5);
        const auto forward = [&](std::int64_t ignored) {
            cuda::cross_entropy_forward(stats, losses, logits, labels, 5, cols, ignored,
                                        here.place(4), {});
        };
        forward(-100);
        EXPECT_EQ(rule_of(here.read()), 4U);
        EXPECT_EQ(whole_value_of(here.read()), cols + 20);
        forward(7);
        EXPECT_EQ(whole_value_of(here.read()), -100) << "not ignored any more";
    }
}

TEST(CudaGatherStep, TakesTheNoteAlong) {
    HALFTONE_NEEDS_CUDA();
    const Noted here;
    const DeviceValue<StepFigures> figures(StepFigures{});
    StepSources sources;
    sources.deferred_error = here.word.get();
    cuda::check_whole(here.place(4), DeviceBuffer(whole({8})), {0, 7}, {});
    cuda::end_step(figures.get(), {.before = sources}, {});
    EXPECT_EQ(whole_value_of(figures.host().deferred_error), 8);
    EXPECT_EQ(here.read(), 0U);
    cuda::end_step(figures.get(), {}, {});
    EXPECT_NE(figures.host().deferred_error, 0U) << "a field that is not given stays";
    cuda::end_step(figures.get(), {.before = sources}, {});
    EXPECT_EQ(figures.host().deferred_error, 0U);
}

}  // namespace
}  // namespace kernels::test
