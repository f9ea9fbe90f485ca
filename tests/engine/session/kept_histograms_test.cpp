#include "session/kept_histograms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "engine/session/session.h"
#include "support/patience.h"
#include "temp_folder.h"

namespace engine {
namespace {

using test::comes_true;
using test::patience_s;
using testing::ElementsAre;
using testing::HasSubstr;

/// Runs of the spirals MLP that record histograms.
class KeptHistogramsTest : public testing::Test {
protected:
    static RunConfig config_of(std::int64_t steps, std::int64_t every,
                               const std::string& precision = "fp32") {
        RunConfig config;
        config.dataset.kind = "spirals";
        config.model.kind = "mlp";
        config.precision.preset = precision;
        config.batch_size = 32;
        config.epochs = 1000;
        config.max_steps = steps;
        config.threads = 1;
        config.instruments.histograms_every = every;
        return config;
    }
    std::unique_ptr<Session> made(const RunConfig& config) {
        return std::make_unique<Session>(config, thread_, store_);
    }
    std::unique_ptr<Session> trained(const RunConfig& config) {
        auto session = made(config);
        session->post(Command::start);
        EXPECT_TRUE(session->wait(patience_s));
        EXPECT_EQ(session->state(), RunState::done);
        return session;
    }
    std::filesystem::path folder_of(const Session& session) const {
        return store_->find(session.run())->folder;
    }
    static std::vector<std::int64_t> steps_of(const std::filesystem::path& folder) {
        std::vector<std::int64_t> out;
        const auto reader = HistogramRecordReader::open(folder);
        for (const auto& sample : reader.samples()) out.push_back(sample.step);
        return out;
    }

    test_support::TempFolder root_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(root_.path());
    std::shared_ptr<ComputeThread> thread_ = std::make_shared<ComputeThread>();
};

TEST_F(KeptHistogramsTest, AreKeptEverySoManyStepsWithTheFloorOfTheScaleInTheRecord) {
    const auto session = trained(config_of(23, 5));
    const auto folder = folder_of(*session);
    EXPECT_THAT(steps_of(folder), ElementsAre(5, 10, 15, 20));
    const auto reader = HistogramRecordReader::open(folder);
    const auto record = session->record();
    for (std::int64_t step = 1; step <= 23; ++step) {
        const float floor = record.row(step - 1).scale_floor;
        if (step % 5 != 0) {
            EXPECT_TRUE(std::isnan(floor)) << step;
            continue;
        }
        const HistogramSample sample = reader.read(*reader.nearest(step));
        EXPECT_GT(floor, 0);
        EXPECT_EQ(static_cast<double>(floor), scale_floor(sample));
    }
}

TEST_F(KeptHistogramsTest, AreSampledByThemselvesWithoutChangingABit) {
    RunConfig automatic = config_of(12, 0, "amp-fp16");
    automatic.instruments.histograms_every = automatic_histograms;
    const auto plain = trained(config_of(12, 0, "amp-fp16")), kept = trained(automatic);
    // The last planned step: the first fifty are not over.
    EXPECT_THAT(steps_of(folder_of(*kept)), ElementsAre(12));
    for (std::int64_t i = 0; i < 12; ++i) {
        const StepRecord a = plain->record().row(i), b = kept->record().row(i);
        EXPECT_EQ(a.loss, b.loss);
        EXPECT_EQ(a.grad_norm, b.grad_norm);
        EXPECT_EQ(a.loss_scale, b.loss_scale);
    }
}

TEST_F(KeptHistogramsTest, AreNotMadeUnlessTheyAreAskedFor) {
    const auto session = made(config_of(1000, 0));
    session->post(Command::step);
    ASSERT_TRUE(comes_true([&] { return session->state() == RunState::paused; }));
    const auto folder = folder_of(*session);
    EXPECT_FALSE(HistogramRecordReader::exists(folder));
    session->post(Command::sample_histograms);
    session->post(Command::step);
    ASSERT_TRUE(comes_true([&] { return session->record().size() == 2; }));
    session->post(Command::stop);
    ASSERT_TRUE(session->wait(patience_s));
    EXPECT_THAT(steps_of(folder), ElementsAre(2));
}

TEST_F(KeptHistogramsTest, ChangeNoBitOfTheRun) {
    const auto plain = trained(config_of(30, 0, "amp-fp16")),
               kept = trained(config_of(30, 3, "amp-fp16"));
    for (std::int64_t i = 0; i < 30; ++i) {
        const StepRecord a = plain->record().row(i), b = kept->record().row(i);
        EXPECT_EQ(a.loss, b.loss);
        EXPECT_EQ(a.grad_norm, b.grad_norm);
        EXPECT_EQ(a.loss_scale, b.loss_scale);
    }
}

TEST_F(KeptHistogramsTest, ThatCannotBeWrittenDoNotEndTheRun) {
    const auto session = made(config_of(20, 5));
    session->post(Command::step);
    ASSERT_TRUE(comes_true([&] { return session->state() == RunState::paused; }));
    std::ofstream(folder_of(*session) / "histograms") << "in the way";
    session->post(Command::resume);
    ASSERT_TRUE(session->wait(patience_s));
    EXPECT_EQ(session->state(), RunState::done);
    EXPECT_EQ(session->record().size(), 20);
    int warnings = 0;
    for (const auto& event : session->drain())
        if (const auto* found = std::get_if<RunWarning>(&event))
            warnings += found->message.str().find("no further histograms") != std::string::npos;
    EXPECT_EQ(warnings, 1);
}

}  // namespace
}  // namespace engine
