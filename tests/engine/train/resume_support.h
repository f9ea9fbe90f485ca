#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "engine/runs/checkpoint.h"
#include "engine/session/session.h"
#include "engine/train/resume.h"
#include "io/safetensors/tensor_file.h"
#include "support/device_support.h"
#include "support/patience.h"
#include "temp_folder.h"

// Runs that stop and are resumed, through sessions and folders.
namespace engine::test {

namespace fs = std::filesystem;

/// The results of the steps, one line each: everything except times. NaN equals NaN.
using Computed = std::vector<std::string>;

inline Computed computed(const StepRecordReader& record) {
    Computed out;
    for (std::int64_t i = 0; i < record.size(); ++i) {
        const StepRecord row = record.row(i);
        std::ostringstream line;
        line << std::hexfloat << "step " << row.step << " loss " << row.loss << " scale "
             << row.loss_scale << " norm " << row.grad_norm << " updates " << row.updates
             << " samples " << row.samples << " rate " << row.lr << " tracker "
             << row.growth_tracker;
        out.push_back(line.str());
    }
    return out;
}

inline std::vector<float> losses_of(const StepRecordReader& record) {
    std::vector<float> out;
    for (std::int64_t i = 0; i < record.size(); ++i) out.push_back(record.row(i).loss);
    return out;
}

inline std::vector<double> values_of(const fs::path& file) {
    std::vector<double> out;
    for (const auto& [name, tensor] : load_tensors(file)) {
        for (const double value : tensor.values()) out.push_back(value);
    }
    return out;
}

/// How a session ended.
struct Ended {
    std::string run;
    fs::path folder;
    StepRecordReader record;
    Computed figures;
    std::vector<Event> events;

    template <typename T>
    std::vector<T> all() const {
        std::vector<T> out;
        for (const auto& event : events) {
            if (const auto* found = std::get_if<T>(&event)) out.push_back(*found);
        }
        return out;
    }
};

class ResumedRuns : public testing::Test {
protected:
    /// Runs to the end. With `stop_after` rows, it is stopped there or slightly later.
    Ended train(const RunConfig& config, const SessionOptions& options = {},
                std::int64_t stop_after = 0) {
        Session session(config, thread_, store_, options);
        session.post(Command::start);
        if (stop_after > 0) {
            const auto ended = [&] {
                return session.state() == RunState::done || session.state() == RunState::failed;
            };
            EXPECT_TRUE(
                comes_true([&] { return session.record().size() >= stop_after || ended(); }));
            session.post(Command::stop);
        }
        EXPECT_TRUE(session.wait(patience_s));
        Ended out{session.run(), {}, session.record(), computed(session.record()), session.drain()};
        if (!out.run.empty()) out.folder = store_->find(out.run)->folder;
        return out;
    }
    /// Makes one step, the one that gives the record `rows` rows.
    static void step_to(Session& session, std::int64_t rows) {
        session.post(Command::step);
        ASSERT_TRUE(comes_true([&] {
            return session.record().size() >= rows && session.state() == RunState::paused;
        }));
    }
    /// Runs `steps` single steps and stops.
    Ended train_to(const RunConfig& config, std::int64_t steps) {
        Session session(config, thread_, store_);
        for (std::int64_t i = 1; i <= steps; ++i) step_to(session, i);
        session.post(Command::stop);
        EXPECT_TRUE(session.wait(patience_s));
        return {session.run(), store_->find(session.run())->folder, session.record(),
                computed(session.record()), session.drain()};
    }
    Ended resume(const Ended& run, const std::string& from = "last",
                 const std::vector<std::string>& changes = {},
                 LongerSchedule schedule = LongerSchedule::ask) {
        const ResumePlan plan = plan_resume(*store_->find(run.run), from, changes);
        EXPECT_THAT(plan.errors, testing::IsEmpty());
        SessionOptions options;
        options.continuation = plan.continuation;
        options.continuation->schedule = schedule;
        return train(plan.config, options);
    }
    void expect_same_end(const Ended& whole, const Ended& resumed) {
        EXPECT_EQ(whole.figures, resumed.figures);
        const fs::path last = find_checkpoint(whole.folder, "last").folder.filename();
        for (const char* file : {"weights.safetensors", "optimizer.safetensors"}) {
            EXPECT_EQ(values_of(whole.folder / last / file),
                      values_of(resumed.folder / last / file))
                << file;
        }
    }

    test_support::TempFolder folder_;
    std::shared_ptr<RunStore> store_ = std::make_shared<RunStore>(folder_ / "runs");
    std::shared_ptr<ComputeThread> thread_ = std::make_shared<ComputeThread>();
};

/// Points and an MLP; the steps end it, not the epochs.
inline RunConfig spirals(std::int64_t max_steps) {
    RunConfig config = small_run("mlp", "amp-fp16");
    config.max_steps = max_steps;
    config.epochs = 1000;
    return config;
}

}  // namespace engine::test
