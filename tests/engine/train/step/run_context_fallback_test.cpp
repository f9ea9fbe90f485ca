#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/session/session.h"
#include "engine/train/bench.h"
#include "simt/libraries.h"
#include "temp_folder.h"

// A run warns once for each pass and shape that cuDNN does not compute.
namespace engine {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// LeNet on glyphs: convolutions of 1 to 6 and 6 to 16 channels, in eager and captured steps.
RunConfig lenet(const std::string& precision) {
    RunConfig config;
    config.dataset.kind = "glyphs";
    config.model.kind = "lenet";
    config.precision.preset = precision;
    config.device = "cuda";
    config.batch_size = 2;
    config.max_steps = 4;
    config.threads = 1;
    return config;
}

class FallbackWarning : public testing::Test {
protected:
    ~FallbackWarning() override {
        kernels::simt::fail_plans("", 0);
        kernels::simt::configure(kernels::simt::LibrarySettings{});
    }

    std::vector<RunWarning> run(const RunConfig& config) {
        SessionOptions options;
        options.evaluate = false;
        Session session(config, thread_, store_, options);
        session.post(Command::start);
        EXPECT_TRUE(session.wait(300));
        EXPECT_EQ(session.state(), RunState::done);
        run_ = session.run();
        std::vector<RunWarning> out;
        for (const auto& event : session.drain()) {
            if (const auto* warning = std::get_if<RunWarning>(&event)) out.push_back(*warning);
        }
        return out;
    }
    std::size_t kept_warnings() const {
        std::size_t kept = 0;
        for (const auto& event : store_->events(run_))
            kept += std::holds_alternative<RunWarning>(event) ? 1u : 0u;
        return kept;
    }

    test_support::TempFolder folder_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(folder_.path());
    std::shared_ptr<ComputeThread> thread_ = std::make_shared<ComputeThread>();
    std::string run_;
};

std::vector<std::string> texts(const std::vector<RunWarning>& warnings) {
    std::vector<std::string> out;
    for (const RunWarning& warning : warnings) out.push_back(warning.message.str());
    return out;
}

TEST_F(FallbackWarning, NamesEachPassTypeAndShapeOnceARun) {
    EXPECT_THAT(run(lenet("amp-fp16")), IsEmpty()) << "the library takes them all";
    kernels::simt::configure({.convolution = false});
    for (int again = 0; again < 2; ++again) {
        const auto warnings = run(lenet("amp-fp16"));
        const auto words = texts(warnings);
        EXPECT_THAT(
            words,
            ElementsAre(AllOf(HasSubstr("The forward pass of a convolution in f16"),
                              HasSubstr("input (2, 1, 28, 28), weights (6, 1, 5, 5), groups 1")),
                        AllOf(HasSubstr("The forward pass"), HasSubstr("weights (16, 6, 5, 5)")),
                        AllOf(HasSubstr("The input gradient"), HasSubstr("weights (16, 6, 5, 5)")),
                        AllOf(HasSubstr("The weight gradient"), HasSubstr("weights (16, 6, 5, 5)")),
                        AllOf(HasSubstr("The weight gradient"), HasSubstr("weights (6, 1, 5, 5)"))))
            << "run " << again;
        EXPECT_THAT(words, Each(AllOf(HasSubstr("multiples of 8"), HasSubstr("precision"))));
        EXPECT_EQ(warnings.front().step, 1);
        EXPECT_THAT(to_json_line(warnings.front()),
                    AllOf(HasSubstr(R"("event":"warning")"), HasSubstr("The forward pass")));
        EXPECT_EQ(kept_warnings(), 5u) << "the run's folder keeps them for the window's list";
    }
}

TEST_F(FallbackWarning, SaysNothingWhereTheLibraryNeedsTwoSteps) {
    kernels::simt::configure({.convolution_bias = false});
    for (const char* precision : {"fp32", "amp-bf16"})
        EXPECT_THAT(run(lenet(precision)), IsEmpty())
            << "the bias is added to f32 sums by a kernel";
    kernels::simt::configure({.convolution_bias = false, .convolution_wide = false});
    EXPECT_THAT(run(lenet("fp32")), IsEmpty());
    EXPECT_THAT(texts(run(lenet("amp-bf16"))),
                AllOf(SizeIs(2), Each(HasSubstr("forward pass of a convolution in bf16"))));
}

TEST_F(FallbackWarning, SaysWhyWhereTheLibraryFailsAndTheRunGoesOnWithItLater) {
    kernels::simt::configure(kernels::simt::LibrarySettings{});
    kernels::simt::fail_plans(
        "cuLibraryLoadData returned error CUDA_ERROR_NOT_READY (600) cudnn_status: "
        "CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER",
        4);
    EXPECT_THAT(texts(run(lenet("amp-fp16"))),
                ElementsAre(AllOf(HasSubstr("cuDNN failed to prepare the forward pass of a "
                                            "convolution in f16, input (2, 1, 28, 28)"),
                                  HasSubstr("many times slower: cuLibraryLoadData "
                                            "returned error CUDA_ERROR_NOT_READY"))));
    EXPECT_THAT(run(lenet("amp-fp16")), IsEmpty()) << "the next run asks again";
}

TEST_F(FallbackWarning, EndsTheRunWhereAPlanFindsNoMemory) {
    kernels::simt::configure(kernels::simt::LibrarySettings{});
    kernels::simt::fail_plans("cudnn_status: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
                              2);
    SessionOptions options;
    options.evaluate = false;
    Session session(lenet("fp32"), thread_, store_, options);
    session.post(Command::start);
    EXPECT_TRUE(session.wait(300));
    ASSERT_EQ(session.state(), RunState::failed);
    std::string text;
    for (const auto& event : session.drain())
        if (const auto* failed = std::get_if<RunFailed>(&event)) text = failed->message.str();
    EXPECT_THAT(text, AllOf(HasSubstr("is out of memory"), HasSubstr("DEVICE_ALLOCATION_FAILED"),
                            HasSubstr("in use: weights")));
    EXPECT_THAT(run(lenet("fp32")), IsEmpty());
}

TEST_F(FallbackWarning, ComesWithABenchmarksResult) {
    BenchOptions options;
    options.steps = options.blocks = options.warm_up = 1;
    EXPECT_THAT(run_bench(lenet("tf32"), options).warnings, IsEmpty());
    kernels::simt::configure({.convolution = false});
    const auto warnings = run_bench(lenet("tf32"), options).warnings;
    ASSERT_THAT(warnings, SizeIs(5));
    EXPECT_THAT(warnings.front().str(), HasSubstr("in f32"));
}

}  // namespace
}  // namespace engine
