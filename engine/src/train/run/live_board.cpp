#include "train/run/live_board.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "runs/foreign_log.h"
#include "runs/tensorboard_events.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds row_interval{50};
constexpr std::chrono::seconds flush_interval{1};
constexpr std::size_t most_unwritten = std::size_t{1} << 20;

/// The name of a new file, behind those that are there.
fs::path new_file(const fs::path& folder, double time) {
    fs::path path = folder / tensorboard_file_name(time);
    std::error_code error;
    while (fs::exists(path, error)) path = folder / tensorboard_file_name(++time);
    return path;
}

bool is_notable(const StepRecord& row) { return row.found_inf != 0 || !std::isfinite(row.loss); }

}  // namespace

LiveBoard::LiveBoard(const RunConfig& config, const RunHome& home, std::vector<Metric> metrics,
                     std::vector<Metric> step_metrics, PostEvent post)
    : config_(config),
      home_(home),
      metrics_(std::move(metrics)),
      step_metrics_(std::move(step_metrics)),
      post_(std::move(post)) {}

template <typename F>
void LiveBoard::unless_failed(std::int64_t step, const F& write) {
    if (failed_) return;
    try {
        write();
    } catch (const Error& error) {
        failed_ = true;
        text_.clear();
        post_(RunWarning{{}, error.message(), step});
    }
}

/// A run that goes on tells which steps count anew. One whose folder has no file yet, as a new run
/// that goes on from a checkpoint of another, begins with all steps before.
void LiveBoard::open(std::int64_t first_step) {
    const RunStore::NewRun& run = home_.place();
    const fs::path folder = fs::path(config_.log.tensorboard) /
                            (run.run + "-" + config_.model.kind + "-" + config_.precision.preset);
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw_write_error(folder, error.value());
    const bool goes_on = has_event_files(folder);
    path_ = new_file(folder, time_);
    file_ = open_to_write(path_, O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (!file_.is_open()) throw_write_error(path_, errno);
    text_ = tensorboard_version(time_) + tensorboard_settings(config_, metrics_, time_);
    if (goes_on) {
        text_ += tensorboard_restart(first_step, time_);
    } else if (first_step > 1) {
        tensorboard_history(run.folder, home_.record(), first_step - 1, step_metrics_, time_,
                            [this](const std::string& records, double, double) {
                                text_ += records;
                                if (text_.size() > most_unwritten) flush();
                            });
    }
}

void LiveBoard::on_step(const CompletedStep& step) {
    unless_failed(step.row.step, [&] {
        time_ = step.row.clock_s;
        if (!file_.is_open()) open(step.row.step);
        const auto now = Clock::now();
        if (is_notable(step.row) || now - row_written_ >= row_interval) {
            write_row(step.row);
            row_written_ = now;
        } else {
            held_ = step.row;
        }
        if (now - flushed_ >= flush_interval || text_.size() > most_unwritten) flush();
    });
}

RunRequest LiveBoard::on_evaluation(const Evaluated& evaluated) {
    write_epoch(evaluated);
    return {};
}

void LiveBoard::write_epoch(const Evaluated& evaluated) {
    unless_failed(evaluated.step, [&] {
        if (!file_.is_open()) return;
        write_held();
        EpochDone epoch{};
        epoch.step = evaluated.step;
        epoch.train = evaluated.training;
        epoch.validation = evaluated.validation;
        epoch.test = evaluated.test;
        epoch.epoch_ended = evaluated.epoch_ended;
        text_ += tensorboard_epoch(epoch, time_);
        flush();
    });
}

/// While the run is paused, too.
bool LiveBoard::poll() {
    if (!text_.empty() && Clock::now() - flushed_ >= flush_interval)
        unless_failed(0, [&] { flush(); });
    return false;
}

void LiveBoard::complete(RunDone& done) {
    unless_failed(done.steps, [&] {
        if (!file_.is_open()) return;
        write_held();
        const bool failed =
            done.reason == DoneReason::failed || done.reason == DoneReason::diverged;
        text_ += tensorboard_end(failed, time_);
        flush();
    });
}

void LiveBoard::write_row(const StepRecord& row) {
    text_ += tensorboard_row(row, step_metrics_, row.clock_s);
    held_.reset();
}

void LiveBoard::write_held() {
    if (held_) write_row(StepRecord(*held_));
}

/// Whole records, so that a reader seldom meets a part of one.
void LiveBoard::flush() {
    std::string_view rest = text_;
    while (!rest.empty()) {
        const ssize_t written = ::write(file_.descriptor(), rest.data(), rest.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_write_error(path_, errno);
        rest.remove_prefix(static_cast<std::size_t>(written));
    }
    text_.clear();
    flushed_ = Clock::now();
}

}  // namespace engine
