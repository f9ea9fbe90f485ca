#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <protozero/pbf_builder.hpp>
#include <string_view>

#include "engine/runs/export.h"
#include "io/file/atomic_file.h"
#include "io/file/work_progress.h"
#include "record/event_json.h"
#include "runs/stored_run.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

/// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), as TensorBoard's records have it.
constexpr std::uint32_t crc32c(std::string_view bytes) {
    constexpr auto table = [] {
        std::array<std::uint32_t, 256> made{};
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            std::uint32_t value = i;
            for (int bit = 0; bit < 8; ++bit)
                value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78U : 0U);
            made[i] = value;
        }
        return made;
    }();
    std::uint32_t crc = ~0U;
    for (const char byte : bytes)
        crc = (crc >> 8) ^ table[(crc ^ static_cast<unsigned char>(byte)) & 0xffU];
    return ~crc;
}
// The check value of the algorithm's catalogue.
static_assert(crc32c("123456789") == 0xe3069283U);

using protozero::pbf_builder;
using protozero::pbf_tag_type;

// Fields of TensorBoard's event.proto, summary.proto and tensor.proto.

enum class EventField : pbf_tag_type { wall_time = 1, step = 2, file_version = 3, summary = 5 };
enum class SummaryField : pbf_tag_type { value = 1 };
enum class ValueField : pbf_tag_type { tag = 1, simple_value = 2, tensor = 8, metadata = 9 };
enum class MetadataField : pbf_tag_type { plugin_data = 1 };
enum class PluginField : pbf_tag_type { plugin_name = 1 };
enum class TensorField : pbf_tag_type { dtype = 1, tensor_shape = 2, string_val = 8 };
enum class ShapeField : pbf_tag_type { dim = 2 };
enum class DimField : pbf_tag_type { size = 1 };

constexpr std::int32_t dt_string = 7;
constexpr std::int64_t scalar_rows_at_once = 1024;
constexpr std::size_t bytes_at_once = std::size_t{1} << 20;

/// One event of the file, with any number of values.
class EventMaker {
public:
    EventMaker(double wall_time, std::int64_t step) : event_(text_) {
        event_.add_double(EventField::wall_time, wall_time);
        event_.add_int64(EventField::step, step);
    }
    EventMaker(const EventMaker&) = delete;  // event_ writes to text_
    EventMaker& operator=(const EventMaker&) = delete;

    void add(std::string_view part, std::string_view name, double number) {
        pbf_builder<SummaryField> summary(summary_);
        pbf_builder<ValueField> value(summary, SummaryField::value);
        value.add_string(ValueField::tag, std::string(part) + "/" + std::string(name));
        value.add_float(ValueField::simple_value, static_cast<float>(number));
    }

    void add_text(const std::string& tag, const std::string& text) {
        pbf_builder<SummaryField> summary(summary_);
        pbf_builder<ValueField> value(summary, SummaryField::value);
        value.add_string(ValueField::tag, tag + "/text_summary");
        {
            pbf_builder<TensorField> tensor(value, ValueField::tensor);
            tensor.add_enum(TensorField::dtype, dt_string);
            {
                pbf_builder<ShapeField> shape(tensor, TensorField::tensor_shape);
                pbf_builder<DimField> dim(shape, ShapeField::dim);
                dim.add_int64(DimField::size, 1);
            }
            tensor.add_bytes(TensorField::string_val, text);
        }
        pbf_builder<MetadataField> metadata(value, ValueField::metadata);
        pbf_builder<PluginField> plugin(metadata, MetadataField::plugin_data);
        plugin.add_string(PluginField::plugin_name, "text");
    }

    void add_version() { event_.add_string(EventField::file_version, "brain.Event:2"); }

    /// The event's bytes.
    const std::string& made() {
        if (!summary_.empty()) event_.add_message(EventField::summary, summary_);
        return text_;
    }

private:
    std::string text_, summary_;
    pbf_builder<EventField> event_;
};

/// A file of records: length, its checksum, data, their checksum (TFRecord).
class RecordFile {
public:
    explicit RecordFile(const fs::path& path) : file_(path) {}

    void add(EventMaker& event) {
        const std::string& data = event.made();
        const std::uint64_t length = data.size();
        std::string head(sizeof(length), '\0');
        std::memcpy(head.data(), &length, sizeof(length));
        text_ += head;
        add_checksum(head);
        text_ += data;
        add_checksum(data);
        if (text_.size() >= bytes_at_once) write();
    }

    void commit() {
        write();
        file_.commit();
    }

private:
    /// Masked, since checksums of data that hold checksums are weak.
    void add_checksum(std::string_view bytes) {
        const std::uint32_t crc = crc32c(bytes);
        const std::uint32_t masked = ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
        text_.append(reinterpret_cast<const char*>(&masked), sizeof(masked));
    }

    void write() {
        file_.write(text_);
        text_.clear();
    }

    AtomicFile file_;
    std::string text_;
};

double seconds_of(const Moment& made) { return static_cast<double>(made.microseconds) * 1e-6; }

/// Leaves out what was not measured.
void add_part(EventMaker& event, const char* part, const PartFigures& figures) {
    if (!figures.known()) return;
    event.add(part, "loss", figures.loss);
    for (const MetricValue& metric : figures.metrics)
        if (!std::isnan(metric.value)) event.add(part, metric.key, metric.value);
}

class RunWriter {
public:
    RunWriter(const StoredRun& run, StepRecordReader record, const fs::path& file)
        : run_(run), record_(std::move(record)), start_(seconds_of(run.made)), file_(file) {
        if (const auto started = last_start(run.summary.folder)) metrics_ = started->step_metrics;
    }

    void write() {
        EventMaker version(start_, 0);
        version.add_version();
        file_.add(version);
        EventMaker settings(start_, 0);
        settings.add_text("settings", "```json\n" + to_json(run_.summary.config) + "\n```");
        file_.add(settings);
        write_steps();
        file_.commit();
    }

private:
    /// Writes all steps, with each epoch's figures after the step that ended it.
    void write_steps() {
        EventFile(run_.summary.folder).for_each([this](Event&& event) {
            const auto* epoch = std::get_if<EpochDone>(&event);
            if (epoch == nullptr) return;
            write_rows_to(epoch->step);
            write_epoch(*epoch);
        });
        write_rows_to(record_.size());
    }

    /// The rows that were not written yet, up to this step.
    void write_rows_to(std::int64_t step) {
        std::vector<StepRecord> rows;
        const std::int64_t end = std::min(step, record_.size());
        while (written_ < end) {
            rows.resize(static_cast<std::size_t>(std::min(scalar_rows_at_once, end - written_)));
            record_.rows(written_, rows);
            written_ += std::ssize(rows);
            for (const StepRecord& row : rows) {
                now_ = row.clock_s > 0 ? row.clock_s : start_ + row.elapsed_s;
                write_row(row, now_);
            }
            report_work(static_cast<double>(written_) / static_cast<double>(record_.size()));
        }
    }

    void write_row(const StepRecord& row, double now) {
        EventMaker event(now, row.step);
        for_each_named_field(metrics_, [&](std::string_view field, auto member) {
            const auto number = static_cast<double>(row.*member);
            // The clock is the event's own time.
            if (field == "step" || field == "clock_s") return;
            if (std::isnan(number) && !nan_is_a_value(field)) return;
            event.add("train", field, number);
        });
        event.add("train", "skipped", static_cast<double>(row.step - row.updates));
        file_.add(event);
    }

    void write_epoch(const EpochDone& epoch) {
        EventMaker made(now_, epoch.step);
        if (epoch.epoch_ended) add_part(made, "epoch", epoch.train);
        add_part(made, "validation", epoch.validation);
        add_part(made, "test", epoch.test);
        file_.add(made);
    }

    const StoredRun& run_;
    StepRecordReader record_;
    double start_;
    double now_ = start_;       // of the row written last
    std::int64_t written_ = 0;  // rows
    std::vector<Metric> metrics_ = classification_metrics();
    RecordFile file_;
};

}  // namespace

void export_tensorboard(const fs::path& run_folder, const fs::path& folder) {
    StepRecordReader record = StepRecordReader::open(run_folder);
    const StoredRun run = read_stored_run(run_folder, keep_no_event);
    std::error_code error;
    const bool is_new = !fs::exists(folder, error);
    fs::create_directories(folder, error);
    if (error) throw_write_error(folder, error.value());
    const std::string seconds = std::to_string(run.made.microseconds / 1'000'000);
    try {
        RunWriter(run, std::move(record), folder / ("events.out.tfevents." + seconds + ".halftone"))
            .write();
    } catch (...) {
        // The file itself is gone by now; a folder that others use is not empty.
        if (is_new) fs::remove(folder, error);
        throw;
    }
}

}  // namespace engine
