#include "train/run/run_checkpoints.h"

#include <algorithm>
#include <utility>

namespace engine {
namespace {

constexpr std::chrono::seconds best_interval{10};

}  // namespace

RunCheckpoints::RunCheckpoints(const CheckpointConfig& config, std::filesystem::path run_folder,
                               std::string run, std::int64_t step, std::int64_t epoch,
                               std::shared_ptr<RunHold> hold)
    : config_(config),
      run_(std::move(run)),
      writer_(std::move(run_folder), config.keep, std::move(hold)),
      last_time_(Clock::now()),
      last_step_(step),
      last_epoch_(epoch) {}

bool RunCheckpoints::wants_end(std::int64_t step, std::int64_t epoch) const {
    if (is_saved(step)) return stale_;
    return config_.at_end || is_due(step, epoch);
}

bool RunCheckpoints::is_due(std::int64_t step, std::int64_t epoch) const {
    if (is_saved(step)) return false;
    const auto passed = [](std::int64_t every, std::int64_t last, std::int64_t now) {
        return every > 0 && now / every > last / every;
    };
    if (passed(config_.every_steps, last_step_, step)) return true;
    if (passed(config_.every_epochs, last_epoch_, epoch)) return true;
    return config_.every_minutes > 0 &&
           Clock::now() - last_time_ >=
               std::chrono::duration<double, std::ratio<60>>(config_.every_minutes) &&
           writer_.is_idle();  // last: it takes a lock, and this is asked before each step
}

void RunCheckpoints::save(SavedRun saved) {
    if (held_ && held_->step() == saved.step()) {
        saved.is_best = true;
        held_.reset();
    }
    if (saved.step() >= last_step_) stale_ = false;
    last_step_ = std::max(last_step_, saved.step());  // the best one may be of an earlier step
    const auto epoch = saved_count(saved.progress, "epoch");
    last_epoch_ = std::max(last_epoch_, epoch);
    last_time_ = Clock::now();
    writer_.submit(std::move(saved));
}

void RunCheckpoints::save_best(SavedRun saved) {
    saved.is_best = true;
    held_ = std::move(saved);
}

void RunCheckpoints::finish() {
    if (held_) save(std::move(*std::exchange(held_, std::nullopt)));
    writer_.wait();
}

std::vector<Event> RunCheckpoints::take_events() {
    if (held_ && writer_.is_idle() && Clock::now() - last_best_ >= best_interval) {
        last_best_ = Clock::now();
        save(std::move(*std::exchange(held_, std::nullopt)));
    }
    std::vector<Event> events;
    for (auto& result : writer_.take_results()) {
        if (result.failure)
            unsaved_ = std::max(unsaved_, result.step);
        else if (result.step >= unsaved_)
            unsaved_ = 0;
        if (result.failure)
            events.emplace_back(RunWarning{run_, std::move(*result.failure), result.step});
        else
            events.emplace_back(
                CheckpointSaved{run_, result.step, result.bytes, result.seconds, result.is_best});
    }
    return events;
}

}  // namespace engine
