#include "train/run/run_home.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/runs/group_plan.h"
#include "record/copy_observations.h"
#include "runs/checkpoint.h"
#include "runs/event_file.h"
#include "train/run/run_data.h"
#include "train/run/run_pictures.h"

namespace engine {
namespace {

constexpr std::chrono::seconds check_interval{1};

bool is_of_steps(const Event& event) {
    return std::holds_alternative<EpochDone>(event) || std::holds_alternative<ScaleChanged>(event);
}

/// Renames damaged checkpoints, so that they can be examined and a new one can take their name.
void move_aside(const std::vector<std::filesystem::path>& damaged) {
    std::error_code ignored;
    for (const auto& checkpoint : damaged)
        std::filesystem::rename(checkpoint, aside_of(checkpoint), ignored);
}

std::int64_t peak_of(const std::filesystem::path& folder) {
    try {
        const StepRecordReader record = StepRecordReader::open(folder);
        return record.size() == 0 ? 0 : record.row(record.size() - 1).peak_bytes;
    } catch (const Error&) {
        return 0;  // opening it for writing says what is wrong
    }
}

void check_newest(const Continuation& from, std::int64_t step) {
    for (const CheckpointFolder& each : checkpoint_folders(from.run_folder)) {
        const bool known = std::ranges::find(from.damaged, each.folder) != from.damaged.end();
        if (each.step <= step || known) continue;
        throw Error(ErrorCode::state,
                    msg("{}: the run has gone on meanwhile, to a checkpoint of step {}",
                        from.run_folder.string(), each.step),
                    msg("Resume it once more."));
    }
}

}  // namespace

RunHome::RunHome(const RunConfig& config, const SessionOptions& options, const DataParts& data,
                 RunStore* store, PostEvent post)
    : config_(config), options_(options), data_(data), store_(store), post_(std::move(post)) {}

void RunHome::create(std::size_t metrics, const record_layout::OptionalColumns& optional) {
    place_ = store_->create(config_, options_.folder, options_.group);
    writer_.emplace(StepRecordWriter::create(place_.folder, metrics, optional));
    if (!options_.continuation && !options_.group_plan.empty())
        keep_group_plan(place_.folder, options_.group_plan);
    keep_data();
}

void RunHome::reopen(const Continuation& from, std::int64_t step, std::size_t columns) {
    check_newest(from, step);
    place_ = store_->reopen(from.run_folder, step);
    keep_data();
    move_aside(from.damaged);
    recorded_peak_ = peak_of(place_.folder);
    writer_.emplace(StepRecordWriter::open(place_.folder, step, columns));
    remove_pictures_after(place_.folder, step);
    read_last_row(step);
}

void RunHome::read_last_row(std::int64_t step) {
    if (step == 0) return;
    const StepRecord last = record().row(step - 1);
    recorded_peak_ = std::max(recorded_peak_, last.peak_bytes);
    if (last.clock_s > 0) clock_s_ = last.clock_s;  // earlier versions have none
    last_row_ = last;
}

/// A full disk costs what is written, not the run.
template <typename F>
void RunHome::unless_disk_full(std::int64_t step, const F& write) const {
    try {
        write();
    } catch (const Error& error) {
        post_(RunWarning{{}, error.message(), step});
    }
}

void RunHome::copy_parent(const std::filesystem::path& parent, std::int64_t step,
                          bool epoch_ended) {
    const StepRecordReader rows = StepRecordReader::open(parent);
    if (rows.size() < step)
        throw Error(ErrorCode::data,
                    msg("{}: the step record ends before step {}", parent.string(), step),
                    msg("Resume from an earlier checkpoint of the run (--from)."));
    for (std::int64_t row = 0; row < step; ++row) writer_->append(rows.row(row));
    EventFile(parent).for_each([&](Event&& event) {
        if (!is_of_steps(event) || is_taken_back(event, step)) return;
        const auto* epoch = std::get_if<EpochDone>(&event);
        const bool again =
            epoch != nullptr && epoch->step == step && epoch->epoch_ended && epoch_ended;
        if (!again) post_(std::move(event));
    });
    unless_disk_full(step, [&] {
        copy_pictures(parent, place_.folder, step);
        copy_observations(parent, place_.folder, place_.run, step);
    });
    read_last_row(step);
}

double RunHome::clock_now() {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch());
    clock_s_ = std::max(clock_s_, static_cast<double>(now.count()) / 1e3);
    return clock_s_;
}

void RunHome::check_files(bool now) {
    if (!now && std::chrono::steady_clock::now() - checked_ < check_interval) return;
    checked_ = std::chrono::steady_clock::now();
    if (!place_.run.empty()) store_->check_folder(place_.run);
    if (writer_) writer_->check();
}

/// Keeps what describes the data, so that the trained model can be used without them, and so that
/// they can be compared when they are opened again.
void RunHome::keep_data() {
    if (options_.data_use == DataUse::replay) return;  // its folder goes at once
    kept_hashes_ = data_.files->hash_count();
    keep_run_data(place_.folder, data_, make_fingerprint(data_, config_.dataset));
}

RunRequest RunHome::on_evaluation(const Evaluated& evaluated) {
    unless_disk_full(evaluated.step,
                     [&] { keep_pictures(place_.folder, evaluated.step, evaluated.pictures); });
    return on_end(evaluated.step, evaluated.epoch);
}

RunRequest RunHome::on_end(std::int64_t step, std::int64_t) {
    if (!is_taken_over() && data_.files->hash_count() != kept_hashes_)
        unless_disk_full(step, [&] { keep_data(); });
    return {};
}

}  // namespace engine
