#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "device_memory_support.h"
#include "engine/base/error.h"
#include "ops/conv/convolution.h"
#include "simt/device.h"
#include "simt/libraries.h"

// Memory that a captured evaluation adds to the captured step, and gives back where memory is
// wanted.
namespace engine {
namespace {

using test::AccountedRun;
using test::cuda;
using test::DeviceMemory;
using test::small_run;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using EvaluationMemory = DeviceMemory;

/// The bytes of each use, then of all.
using Accounts = std::array<std::int64_t, memory_uses + 1>;

LoaderOptions wide_options(const RunConfig& config) {
    LoaderOptions options = test::loader_options(config);
    options.sampler.batch_size = 4 * config.batch_size;
    return options;
}

/// A run that evaluates batches of four times the rows of its steps: the memory of the captured
/// step has few blocks of the sizes that it needs.
struct EvaluatedRun : AccountedRun {
    explicit EvaluatedRun(const RunConfig& config)
        : AccountedRun(config),
          options(wide_options(config)),
          wide_collator(data, trainer.task().schema(false), options) {
        renew_feed();
    }
    void renew_feed() {
        const AccountingScope scope(trainer.accounting());
        wide_feed = make_feed(cuda, data, trainer.task().schema(false), options);
    }
    void train(int count) {
        for (int i = 0; i < count; ++i) losses.push_back(step(steps++).loss);
    }
    MetricSums evaluate(std::int64_t count) {
        trainer.begin_evaluation();
        Batch wide;
        for (std::int64_t i = 0; i < count; ++i) {
            wide_collator.make(wide, 0, i);
            trainer.evaluate(wide, *wide_feed);
        }
        return trainer.take_evaluation();
    }
    /// Has step and evaluation captured; gives the accounts before the latter.
    Accounts capture() {
        train(5);
        (void)evaluate(3);
        const Accounts before = accounts();
        (void)evaluate(1);
        EXPECT_EQ(graph().captures(), 1);
        EXPECT_EQ(trainer.replayed_steps(), 2);
        return before;
    }
    Accounts accounts() const {
        Accounts out{};
        for (std::size_t i = 0; i < memory_uses; ++i)
            out[i] = trainer.accounting()->bytes(static_cast<MemoryUse>(i));
        out.back() = trainer.accounting()->total();
        return out;
    }
    const EvaluationGraph& graph() const { return trainer.evaluation_graph(); }
    bool is_captured() const { return graph().nodes() > 0; }

    LoaderOptions options;
    Collator wide_collator;
    std::unique_ptr<BatchFeed> wide_feed;
    std::int64_t steps = 0;
    std::vector<float> losses;
};

/// Most of what the evaluation has added. A block is rounded up by a quarter of it at most.
Shape most_of(const Accounts& before, const EvaluatedRun& run) {
    return {(run.accounts().back() - before.back()) * 3 / 4};
}

/// While it lives, the device has no more than what is in use.
class FullDevice {
public:
    FullDevice() {
        release_cached_memory();
        before_ = set_memory_limit(memory_in_use(cuda), cuda);
    }
    ~FullDevice() { set_memory_limit(before_, cuda); }
    FullDevice(const FullDevice&) = delete;
    FullDevice& operator=(const FullDevice&) = delete;

private:
    std::size_t before_ = 0;
};

void want(const Shape& bytes) {
    const FullDevice full;
    EXPECT_NO_THROW(Tensor::empty(bytes, DType::u8, cuda));
}

void expect_same_sums(const MetricSums& found, const MetricSums& expected) {
    EXPECT_EQ(found.loss, expected.loss);
    EXPECT_EQ(found.weight, expected.weight);
    EXPECT_TRUE(std::ranges::equal(found.values, expected.values));
}

std::vector<std::string> evaluation_warnings(EvaluatedRun& run) {
    std::vector<std::string> words;
    for (const Message& message : run.trainer.take_warnings()) words.push_back(message.str());
    return words;
}

TEST_F(EvaluationMemory, IsGivenBackToTheDeviceAndTheRunGoesOnWithItsBits) {
    for (const auto& [model, precision] :
         {std::pair{"mlp", "fp32"}, std::pair{"lenet", "amp-fp16"}}) {
        SCOPED_TRACE(model);
        const RunConfig config = small_run(model, precision);
        EvaluatedRun run(config), untouched(config);  // asked in this order
        (void)untouched.capture();
        const Accounts before = run.capture();
        ASSERT_GT(run.accounts().back(), before.back());
        want(most_of(before, run));
        EXPECT_FALSE(run.is_captured());
        EXPECT_EQ(run.accounts(), before);
        for (int pass = 0; pass < 2; ++pass) {
            untouched.train(2);
            run.train(2);
            expect_same_sums(run.evaluate(2), untouched.evaluate(2));
        }
        EXPECT_EQ(run.losses, untouched.losses);
        EXPECT_EQ(run.weights(), untouched.weights());
        EXPECT_EQ(run.trainer.replayed_steps(), 6);
        EXPECT_EQ(run.graph().captures(), 2) << "anew, in the next pass";
        EXPECT_EQ(run.graph().replays(), untouched.graph().replays());
        EXPECT_THAT(evaluation_warnings(run), IsEmpty());
    }
}

TEST_F(EvaluationMemory, IsGivenBackToTheRunThatHasReachedItsLimit) {
    const RunConfig config = small_run("mlp", "fp32");
    EvaluatedRun run(config), other(config);
    const Accounts before = run.capture();
    (void)other.capture();
    MemoryAccounting& accounts = *run.trainer.accounting();
    accounts.set_limit(accounts.total());
    {
        const AccountingScope scope(run.trainer.accounting());
        EXPECT_NO_THROW(Tensor::empty(most_of(before, run), DType::u8, cuda));
        EXPECT_THROW(Tensor::empty({accounts.total()}, DType::u8, cuda), Error);
    }
    accounts.set_limit(0);
    EXPECT_FALSE(run.is_captured());
    EXPECT_TRUE(other.is_captured()) << "that would have made no room in these accounts";
    EXPECT_EQ(run.accounts(), before);
}

// As sessions on one device do.
TEST_F(EvaluationMemory, IsGivenToAnotherRunOfTheThread) {
    const RunConfig config = small_run("mlp", "fp32");
    EvaluatedRun run(config), other(config), untouched(config);
    (void)run.capture();
    other.train(1);
    {
        const FullDevice full;
        EXPECT_NO_THROW(other.train(1));
    }
    EXPECT_FALSE(run.is_captured());
    other.train(3);
    untouched.train(5);
    EXPECT_EQ(other.losses, untouched.losses);
}

// The test's thread replays its evaluation while another one's run wants memory, which can have
// that of its own evaluation. Both have captured all before: a capture takes what any thread gives
// to the device.
TEST_F(EvaluationMemory, IsLeftToARunOfAnotherThreadThatReplays) {
    const RunConfig config = small_run("mlp", "fp32");
    EvaluatedRun mine(config);
    (void)mine.capture();
    const MetricSums expected = mine.evaluate(2);
    std::atomic<bool> has_captured{false}, replays{false}, is_done{false};
    std::thread other([&] {
        EvaluatedRun theirs(config);
        const Accounts before = theirs.capture();
        has_captured = true;
        while (!replays) std::this_thread::yield();
        {
            const Shape most = most_of(before, theirs);
            const FullDevice full;
            Tensor wanted;
            EXPECT_NO_THROW(wanted = Tensor::empty(most, DType::u8, cuda));
            EXPECT_THROW(Tensor::empty(most, DType::u8, cuda), Error);
        }
        EXPECT_FALSE(theirs.is_captured());
        EXPECT_EQ(theirs.accounts(), before);
        is_done = true;
    });
    while (!has_captured) std::this_thread::yield();
    do {
        expect_same_sums(mine.evaluate(2), expected);
        replays = true;
    } while (!is_done);
    other.join();
    EXPECT_EQ(mine.graph().captures(), 1);
    EXPECT_TRUE(mine.is_captured());
}

TEST_F(EvaluationMemory, IsGivenBackWhereALibraryFindsNoMemory) {
    EvaluatedRun run(small_run("mlp", "fp32"));
    const Accounts before = run.capture();
    kernels::simt::fail_plans("cudnn_status: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
                              1);
    const Tensor x = Tensor::full({1, 1, 4, 4}, 1, DType::f32, cuda);
    const Tensor w = Tensor::full({1, 1, 1, 1}, 2, DType::f32, cuda);
    EXPECT_EQ(conv2d(x, w).values()[5], 2);
    EXPECT_FALSE(run.is_captured());
    EXPECT_LE(run.accounts().back(), before.back() + kernels::cuda::workspace_bytes());
}

// The batch that is to be replayed wants memory itself: a pass over another part has its own feed.
TEST_F(EvaluationMemory, IsGivenBackForTheBatchThatIsThenComputedEagerly) {
    EvaluatedRun run(small_run("mlp", "fp32"));
    (void)run.capture();
    const MetricSums expected = run.evaluate(2);
    const std::int64_t replays = run.graph().replays();
    run.renew_feed();
    release_cached_memory();
    kernels::simt::refuse_memory(0);
    expect_same_sums(run.evaluate(2), expected);
    EXPECT_EQ(run.graph().replays(), replays);
    EXPECT_FALSE(run.is_captured());
    expect_same_sums(run.evaluate(2), expected);
    EXPECT_EQ(run.graph().replays(), replays + 2);
}

TEST_F(EvaluationMemory, ThatIsWantedInThreePassesIsNotTakenAgain) {
    EvaluatedRun run(small_run("mlp", "fp32"));
    const Accounts before = run.capture();
    const MetricSums expected = run.evaluate(2);
    for (int pass = 0; pass < EvaluationGraph::max_losses; ++pass) {
        EXPECT_THAT(evaluation_warnings(run), IsEmpty());
        ASSERT_TRUE(run.is_captured());
        want(most_of(before, run));
        expect_same_sums(run.evaluate(2), expected);
    }
    EXPECT_FALSE(run.is_captured());
    EXPECT_EQ(run.graph().captures(), EvaluationGraph::max_losses);
    EXPECT_THAT(evaluation_warnings(run), ElementsAre(HasSubstr("no longer captured")));
    expect_same_sums(run.evaluate(2), expected);
    EXPECT_EQ(run.graph().captures(), EvaluationGraph::max_losses);
}

// Nothing is given back or waited for within a capture. One that fails returns all it had taken.
TEST_F(EvaluationMemory, OfACaptureThatFindsNoneReturnsToTheStep) {
    const RunConfig config = small_run("mlp", "fp32");
    EvaluatedRun untouched(config), run(config), other(config);
    (void)other.capture();
    for (EvaluatedRun* each : {&untouched, &run}) {
        each->train(5);
        (void)each->evaluate(3);
    }
    const Accounts before = run.accounts();
    constexpr int inputs = 2;  // allocated before the capture
    const MetricSums expected = untouched.evaluate(2);
    kernels::simt::refuse_memory(inputs);
    expect_same_sums(run.evaluate(2), expected);
    EXPECT_EQ(run.graph().captures(), 0);
    EXPECT_TRUE(other.is_captured());
    EXPECT_EQ(run.accounts(), before);
    EXPECT_THAT(evaluation_warnings(run), ElementsAre(HasSubstr("Evaluations cannot be captured")));
    untouched.train(3);
    run.train(3);
    EXPECT_EQ(run.losses, untouched.losses);
}

TEST_F(EvaluationMemory, IsGivenBackForTheCaptureOfTheStep) {
    EvaluatedRun run(small_run("mlp", "fp32"));
    (void)run.evaluate(4);
    run.train(3);
    ASSERT_TRUE(run.is_captured());
    constexpr int inputs = 2;
    kernels::simt::refuse_memory(inputs);
    run.train(2);
    EXPECT_EQ(run.trainer.replayed_steps(), 2);
    EXPECT_FALSE(run.is_captured());
    EXPECT_THAT(evaluation_warnings(run), IsEmpty());
}

}  // namespace
}  // namespace engine
