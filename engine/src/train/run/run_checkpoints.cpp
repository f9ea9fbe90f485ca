#include "train/run/run_checkpoints.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/number/figure_text.h"
#include "runs/checkpoint.h"

namespace engine {
namespace {

Message describe_failure(const SavedRun& saved, const std::filesystem::path& folder,
                         const std::string& why) {
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (!error && static_cast<std::int64_t>(space.available) < saved.bytes()) {
        return msg(
            "The checkpoint of step {} could not be written: it takes {}, and {} are free on "
            "the disk. Training goes on; earlier checkpoints stay.",
            saved.step(), bytes_text(saved.bytes()),
            bytes_text(static_cast<std::int64_t>(space.available)));
    }
    return msg(
        "The checkpoint of step {} ({}) could not be written: {}. Training goes on; earlier "
        "checkpoints stay.",
        saved.step(), bytes_text(saved.bytes()), why);
}

constexpr std::chrono::seconds best_interval{10};

}  // namespace

CheckpointWriter::CheckpointWriter(std::filesystem::path run_folder, std::int64_t keep,
                                   std::shared_ptr<RunHold> hold)
    : run_folder_(std::move(run_folder)),
      keep_(keep),
      hold_(std::move(hold)),
      thread_([this] { run(); }) {}

CheckpointWriter::~CheckpointWriter() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void CheckpointWriter::submit(SavedRun saved) {
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return waiting_.size() < 2; });
        waiting_.push_back(std::move(saved));
    }
    changed_.notify_all();
}

bool CheckpointWriter::is_idle() const {
    const std::lock_guard lock(mutex_);
    return waiting_.empty();
}

void CheckpointWriter::wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_.empty(); });
}

std::vector<CheckpointWriter::Result> CheckpointWriter::take_results() {
    const std::lock_guard lock(mutex_);
    return std::exchange(results_, {});
}

void CheckpointWriter::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
        if (waiting_.empty()) return;
        const SavedRun& next = waiting_.front();
        lock.unlock();
        Result result = write(next);
        lock.lock();
        results_.push_back(std::move(result));
        waiting_.pop_front();
        changed_.notify_all();
    }
}

CheckpointWriter::Result CheckpointWriter::write(const SavedRun& saved) const {
    Result result{saved.step(), saved.bytes(), 0, saved.is_best, {}};
    const auto start = std::chrono::steady_clock::now();
    try {
        const auto check_hold = [this] {
            if (hold_) hold_->check();
        };
        check_hold();
        result.bytes = write_saved_run(run_folder_, saved, check_hold);
        check_hold();
        prune_checkpoints(run_folder_, keep_);
    } catch (const std::exception& error) {
        result.failure = describe_failure(saved, run_folder_, error.what());
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

RunCheckpoints::RunCheckpoints(const CheckpointConfig& config, const RunStore::NewRun& place,
                               const std::vector<Metric>& metrics, PostEvent post)
    : config_(config), place_(place), best_(metrics), post_(std::move(post)) {}

RunRequest RunCheckpoints::on_evaluation(const Evaluated& evaluated) {
    stale_ = stale_ || is_saved(evaluated.step);
    return {.best = best_.see(evaluated) && config_.best};
}

RunRequest RunCheckpoints::on_end(std::int64_t step, std::int64_t epoch) {
    return {.save = is_saved(step) ? stale_ : config_.at_end || is_due(step, epoch)};
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
           is_idle();  // last: it takes a lock, and this is asked before each step
}

void RunCheckpoints::on_checkpoint(const SavedRun& saved) {
    if (saved.is_best)
        held_ = saved;
    else
        write(saved);
}

void RunCheckpoints::write(SavedRun saved) {
    if (held_ && held_->step() == saved.step()) {
        saved.is_best = true;
        held_.reset();
    }
    if (saved.step() >= last_step_) stale_ = false;
    last_step_ = std::max(last_step_, saved.step());  // the best one may be of an earlier step
    last_epoch_ = std::max(last_epoch_, saved_count(saved.progress, "epoch"));
    last_time_ = Clock::now();
    if (!writer_) writer_.emplace(place_.folder, config_.keep, place_.hold);
    writer_->submit(std::move(saved));
}

bool RunCheckpoints::poll() {
    if (held_ && is_idle() && Clock::now() - last_best_ >= best_interval) {
        last_best_ = Clock::now();
        write_held();
    }
    if (!writer_) return false;
    for (auto& result : writer_->take_results()) {
        if (result.failure)
            unsaved_ = std::max(unsaved_, result.step);
        else if (result.step >= unsaved_)
            unsaved_ = 0;
        if (result.failure)
            post_(RunWarning{{}, std::move(*result.failure), result.step});
        else
            post_(CheckpointSaved{{}, result.step, result.bytes, result.seconds, result.is_best});
    }
    return !is_idle();
}

void RunCheckpoints::complete(RunDone& done) {
    write_held();
    if (writer_) writer_->wait();
    poll();
    done.unsaved = unsaved_;
}

void RunCheckpoints::save_state(SavedRun& saved) const { save_into(saved.best, "", best_.state()); }

RunRequest RunCheckpoints::load_state(const SavedRun& saved) {
    best_.restore(best_metric_of(saved.best, ""));
    last_step_ = saved.step();
    last_epoch_ = saved_count(saved.progress, "epoch");
    return {};
}

}  // namespace engine
