#include "train/run/checkpoint_writer.h"

#include <chrono>

#include "engine/base/error.h"
#include "engine/number/figure_text.h"
#include "runs/checkpoint.h"

namespace engine {
namespace {

Message failure_of(const SavedRun& saved, const std::filesystem::path& folder,
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
        result.failure = failure_of(saved, run_folder_, error.what());
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

}  // namespace engine
