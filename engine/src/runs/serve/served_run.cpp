#include "runs/serve/served_run.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "io/file/lease.h"
#include "record/event_json.h"
#include "runs/event_file.h"
#include "runs/run_folder.h"
#include "runs/stored_run.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_events = 140;
constexpr std::size_t most_scale_events = 60;
constexpr std::int64_t rows_at_once = 4096;
/// A reader keeps several chunks mapped, 2 MB each, and these rows are not read again.
constexpr std::int64_t rows_a_reader = 2 * rows_at_once;
constexpr int drains_an_answer = 8;
/// Rows read for one answer: a tenth of a second.
constexpr std::int64_t rows_an_answer = std::int64_t{1} << 20;

std::int64_t bytes_of_file(const fs::path& file) {
    std::error_code error;
    const auto bytes = fs::file_size(file, error);
    return error ? 0 : static_cast<std::int64_t>(bytes);
}

ordered_json range_json(const BucketRange& range) {
    return {finite_or_null(range.least), finite_or_null(range.greatest),
            finite_or_null(range.last)};
}

ordered_json buckets_json(const StepBuckets& steps, std::size_t from) {
    ordered_json loss = ordered_json::array(), scale = loss, skipped = loss, broken = loss;
    for (std::size_t i = from; i < steps.buckets().size(); ++i) {
        const StepBucket& bucket = steps.buckets()[i];
        loss.push_back(range_json(bucket.loss));
        scale.push_back(range_json(bucket.scale));
        skipped.push_back(bucket.skipped);
        broken.push_back(bucket.broken);
    }
    return {{"loss", std::move(loss)},
            {"scale", std::move(scale)},
            {"skipped", std::move(skipped)},
            {"broken", std::move(broken)}};
}

}  // namespace

/// "GENERATION-WIDTH-BUCKET-EVENT": the first bucket that may change, and the events that are
/// there.
struct ServedRun::Cursor {
    std::string_view generation;
    std::int64_t width = 0, bucket = 0, event = 0;

    static std::optional<Cursor> parse(std::string_view text) {
        std::array<std::string_view, 4> parts;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            const std::size_t end = std::min(text.find('-'), text.size());
            parts[i] = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        const auto width = to_number<std::int64_t>(parts[1]);
        const auto bucket = to_number<std::int64_t>(parts[2]);
        const auto event = to_number<std::int64_t>(parts[3]);
        if (!text.empty() || !width || !bucket || !event || *bucket < 0) return std::nullopt;
        return Cursor{parts[0], *width, *bucket, *event};
    }
};

ServedRun::ServedRun(fs::path folder) : folder_(std::move(folder)) {}

RunSummary ServedRun::summary() const {
    const std::lock_guard lock(mutex_);
    return summary_;
}

ordered_json ServedRun::answer(std::string_view text) {
    const std::lock_guard lock(mutex_);
    look();
    read_rows();
    std::size_t from = 0;
    std::int64_t events_from = 0;
    const auto cursor = Cursor::parse(text);
    if (cursor && cursor->generation == generation_) {
        events_from = cursor->event;
        if (cursor->width == steps_.width())
            from = std::min(static_cast<std::size_t>(cursor->bucket), steps_.buckets().size());
    }
    ordered_json out = figures();
    const std::size_t count = steps_.buckets().size();
    out["cursor"] = generation_ + "-" + std::to_string(steps_.width()) + "-" +
                    std::to_string(count == 0 ? 0 : count - 1) + "-" +
                    std::to_string(event_count_);
    out["from"] = from;
    out["width"] = steps_.width();
    out["buckets"] = buckets_json(steps_, from);
    // A run that trains has a few more by now.
    out["behind"] = followed_->is_behind() ||
                    (record_ && record_->size() - steps_.size() > rows_at_once);
    std::vector<const KeptEvent*> fresh;
    for (const auto* list : {&events_, &scale_events_})
        for (const KeptEvent& each : *list)
            if (each.number > events_from) fresh.push_back(&each);
    std::ranges::sort(fresh, {}, &KeptEvent::number);
    out["events"] = ordered_json::array();
    for (const KeptEvent* each : fresh)
        out["events"].push_back(ordered_json(read_json(to_json_line(each->event))));
    return out;
}

void ServedRun::look() {
    if (!followed_ || has_gone_on()) begin();
    for (int i = 0; i < drains_an_answer; ++i) {
        for (const Event& event : followed_->drain()) take(event);
        if (!followed_->is_behind()) break;
    }
    const RunState now = followed_->state();
    if (now == RunState::done || now == RunState::failed) {
        if (events_bytes_ == 0) events_bytes_ = bytes_of_file(folder_ / events_file);
    }
}

/// A run that was over is trained again.
bool ServedRun::has_gone_on() {
    return events_bytes_ != 0 && bytes_of_file(folder_ / events_file) != events_bytes_;
}

void ServedRun::begin() {
    followed_.emplace(folder_);
    record_.reset();
    events_bytes_ = 0;
    event_count_ = 0;
    events_.clear();
    scale_events_.clear();
    summary_ = {};
    summary_.folder = folder_;
    summary_.run = EventFile(folder_).run();
    summary_.group = EventFile(folder_).group();
    summary_.config = parse_run_config(read_text(folder_ / config_file)).config;
    summary_.title = read_notes(folder_).title;
    read_from_start();
}

void ServedRun::take_back_after(std::int64_t step) {
    for (auto* list : {&events_, &scale_events_})
        std::erase_if(*list,
                      [step](const KeptEvent& each) { return is_taken_back(each.event, step); });
    if (step < steps_.size()) read_from_start();
}

void ServedRun::read_from_start() {
    steps_ = {};
    record_.reset();
    generation_ = random_id();
}

void ServedRun::take(const Event& event) {
    if (!std::holds_alternative<StateChanged>(event)) apply(summary_, event);
    if (const auto* start = std::get_if<RunStarted>(&event)) {
        device_ = start->device;
        planned_ = start->steps_planned;
        return;
    }
    if (const auto* resumed = std::get_if<RunResumed>(&event);
        resumed != nullptr && resumed->parent.empty())
        take_back_after(resumed->step);
    if (std::holds_alternative<StateChanged>(event)) return;
    if (std::holds_alternative<ScaleChanged>(event))
        keep(scale_events_, most_scale_events, event);
    else
        keep(events_, most_events, event);
}

void ServedRun::keep(std::deque<KeptEvent>& list, std::size_t most, const Event& event) {
    list.push_back({++event_count_, event});
    if (list.size() > most) list.pop_front();
}

void ServedRun::read_rows() {
    const RunState now = followed_->state();
    if (now == RunState::idle || now == RunState::preparing) return;
    if (!record_) record_ = StepRecordReader::open(folder_);
    record_->check();
    const std::int64_t end = std::min(record_->size(), steps_.size() + rows_an_answer);
    std::int64_t read = 0;
    std::vector<double> loss(rows_at_once), scale(rows_at_once), skipped(rows_at_once);
    while (steps_.size() < end) {
        const std::int64_t first = steps_.size();
        const auto count = static_cast<std::size_t>(std::min(rows_at_once, end - first));
        record_->column(&StepRecord::loss, first, std::span(loss).first(count));
        record_->column(&StepRecord::loss_scale, first, std::span(scale).first(count));
        record_->column(&StepRecord::found_inf, first, std::span(skipped).first(count));
        for (std::size_t i = 0; i < count; ++i)
            steps_.add(static_cast<float>(loss[i]), static_cast<float>(scale[i]), skipped[i] != 0);
        read += rows_at_once;
        if (read % rows_a_reader == 0) record_ = StepRecordReader::open(folder_);
    }
    if (read > rows_a_reader) record_ = StepRecordReader::open(folder_);
}

std::string ServedRun::state() const {
    const RunState now = followed_->state();
    if (followed_->interrupted()) return interrupted_state;
    return now == RunState::done || now == RunState::failed ? summary_.state : name(now);
}

ordered_json ServedRun::figures_of_last_step() const {
    if (!record_ || record_->size() == 0) return nullptr;
    const StepRecord last = record_->row(record_->size() - 1);
    return {{"step", last.step},
            {"epoch", last.epoch},
            {"updates", last.updates},
            {"loss", json_number(last.loss)},
            {"loss_scale", json_number(last.loss_scale)},
            {"lr", json_number(last.lr)},
            {"step_ms", finite_or_null(last.step_ms)},
            {"samples_per_s", finite_or_null(last.samples_per_s)},
            {"elapsed_s", finite_or_null(last.elapsed_s)},
            {"peak_bytes", last.peak_bytes}};
}

ordered_json ServedRun::figures() const {
    const RunProcess writer = followed_->writer();
    ordered_json out = {{"run", summary_.run},
                        {"title", summary_.title},
                        {"state", state()},
                        {"host", writer.host},
                        {"silent_s", writer.silent_s},
                        {"model", model_name(summary_)},
                        {"dataset", dataset_name(summary_)},
                        {"precision", summary_.config.precision.preset},
                        {"device", device_},
                        {"unit", summary_.unit},
                        {"planned", planned_},
                        {"last", figures_of_last_step()},
                        {"test_loss", finite_or_null(summary_.test.loss)}};
    ordered_json metrics = ordered_json::array();
    for (const Metric& metric : summary_.metrics)
        metrics.push_back({{"title", metric.title},
                           {"is_share", metric.is_share},
                           {"value", finite_or_null(summary_.test.of(metric.key))}});
    out["metrics"] = std::move(metrics);
    return out;
}

}  // namespace engine
