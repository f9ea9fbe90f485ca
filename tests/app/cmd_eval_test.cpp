#include <gmock/gmock.h>

#include "kept_runs.h"

namespace app {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::StartsWith;

using Eval = KeptRuns;

TEST_F(Eval, HasTheFiguresThatTheRunEndedWith) {
    train({"--set", "max_steps=6", "--set", "checkpoint.every_steps=2"});
    const auto run = nlohmann::json::parse(lines({"runs", "--json"}).at(0));
    const auto found = object({"eval", "1", "--json"});
    EXPECT_EQ(found.at("part"), "test");
    EXPECT_EQ(found.at("step"), 6);
    EXPECT_EQ(found.at("samples"), 128);
    // Another size of the batches adds the losses in another order.
    EXPECT_NEAR(found.at("loss").get<double>(), run.at("test_loss").get<double>(), 1e-5);
    std::int64_t all = 0, right = 0;
    const auto confusion = found.at("confusion");
    for (std::size_t i = 0; i < confusion.size(); ++i) {
        for (const auto& count : confusion[i]) all += count.get<std::int64_t>();
        right += confusion[i][i].get<std::int64_t>();
    }
    EXPECT_EQ(all, 128);
    EXPECT_DOUBLE_EQ(found.at("accuracy").get<double>(), static_cast<double>(right) / 128);
    EXPECT_EQ(object({"eval", "1", "--checkpoint", "2", "--json"}).at("step"), 2);
}

TEST_F(Eval, IsATableOfClasses) {
    train({"--set", "max_steps=6"});
    const auto table = lines({"eval", "1"});
    ASSERT_FALSE(table.empty());
    EXPECT_THAT(table[0], AllOf(StartsWith("test part, 128 samples, checkpoint of step 6: loss "),
                                HasSubstr("accuracy")));
    EXPECT_THAT(table, Contains(StartsWith("class ")));
    EXPECT_THAT(table, Contains(AllOf(StartsWith("spiral A "), HasSubstr(" 64 "))));
}

TEST_F(Eval, SaysWhatTheRunLacks) {
    train({"--set", "max_steps=6"});
    expect_refused({"eval", "9"}, 2, "9: neither a run of the history nor a run's folder");
    expect_refused({"eval", "1", "--checkpoint", "77"}, 3, "the run has no checkpoint \"77\"");
    expect_refused({"eval", "1", "--part", "train"}, 2, "train: use test or validation");
    expect_refused({"eval", "1", "--part", "validation"}, 3, "has no validation part");
}

}  // namespace
}  // namespace app
