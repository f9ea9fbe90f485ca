#include "runs/tensorboard_events.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <protozero/pbf_builder.hpp>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "record/event_json.h"
#include "runs/event_file.h"

namespace engine {
namespace {

/// CRC-32C (Castagnoli, reflected polynomial 0x82f63b78).
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

enum class EventField : pbf_tag_type {
    wall_time = 1,
    step = 2,
    file_version = 3,
    summary = 5,
    session_log = 7
};
enum class SummaryField : pbf_tag_type { value = 1 };
enum class ValueField : pbf_tag_type { tag = 1, simple_value = 2, tensor = 8, metadata = 9 };
enum class MetadataField : pbf_tag_type { plugin_data = 1 };
enum class PluginField : pbf_tag_type { plugin_name = 1, content = 2 };
enum class TensorField : pbf_tag_type { dtype = 1, tensor_shape = 2, string_val = 8 };
enum class ShapeField : pbf_tag_type { dim = 2 };
enum class DimField : pbf_tag_type { size = 1 };
enum class SessionField : pbf_tag_type { status = 1 };

constexpr std::int32_t dt_float = 1, dt_string = 7;
constexpr std::int32_t session_start = 1;

// Fields of its plugins/hparams: plugin_data.proto, api.proto and struct.proto.

enum class HparamsField : pbf_tag_type { version = 1, experiment = 2, start = 3, end = 4 };
enum class ExperimentField : pbf_tag_type { time_created = 3, hparams = 4, metrics = 5 };
enum class HparamField : pbf_tag_type { name = 1, type = 4 };
enum class MetricField : pbf_tag_type { name = 1, dataset = 5 };
enum class MetricNameField : pbf_tag_type { tag = 2 };
enum class StartField : pbf_tag_type { hparams = 1, time = 5 };
enum class EntryField : pbf_tag_type { key = 1, value = 2 };
enum class AnyField : pbf_tag_type { number = 2, text = 3, flag = 4 };
enum class EndField : pbf_tag_type { status = 1, time = 2 };
enum class HparamType : std::int32_t { text = 1, flag = 2, number = 3 };
enum class Dataset : std::int32_t { training = 1, validation = 2 };
enum class Status : std::int32_t { success = 1, failure = 2 };

constexpr std::int64_t board_rows_at_once = 1024;

/// A record: length, its checksum, data, their checksum.
std::string framed(std::string_view data) {
    const auto bytes_of = [](auto number) {
        std::string bytes(sizeof(number), '\0');
        std::memcpy(bytes.data(), &number, sizeof(number));
        return bytes;
    };
    const std::string length = bytes_of(static_cast<std::uint64_t>(data.size()));
    std::string out = length + bytes_of(tensorboard_checksum(length));
    out += data;
    return out + bytes_of(tensorboard_checksum(data));
}

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
            add_size(tensor, 1);
            tensor.add_bytes(TensorField::string_val, text);
        }
        add_plugin(value, "text", {});
    }

    /// Data of the plugin hparams, which come with an empty tensor.
    void add_hparams(const std::string& tag, const std::string& data) {
        pbf_builder<SummaryField> summary(summary_);
        pbf_builder<ValueField> value(summary, SummaryField::value);
        value.add_string(ValueField::tag, "_hparams_/" + tag);
        {
            pbf_builder<TensorField> tensor(value, ValueField::tensor);
            tensor.add_enum(TensorField::dtype, dt_float);
            add_size(tensor, 0);
        }
        add_plugin(value, "hparams", data);
    }

    void add_version() { event_.add_string(EventField::file_version, "brain.Event:2"); }
    void add_restart() {
        pbf_builder<SessionField> session(event_, EventField::session_log);
        session.add_enum(SessionField::status, session_start);
    }

    /// The event as a record.
    std::string made() {
        if (!summary_.empty()) event_.add_message(EventField::summary, summary_);
        return framed(text_);
    }

private:
    static void add_size(pbf_builder<TensorField>& tensor, std::int64_t size) {
        pbf_builder<ShapeField> shape(tensor, TensorField::tensor_shape);
        pbf_builder<DimField> dim(shape, ShapeField::dim);
        dim.add_int64(DimField::size, size);
    }

    static void add_plugin(pbf_builder<ValueField>& value, const char* name,
                           const std::string& data) {
        pbf_builder<MetadataField> metadata(value, ValueField::metadata);
        pbf_builder<PluginField> plugin(metadata, MetadataField::plugin_data);
        plugin.add_string(PluginField::plugin_name, name);
        if (!data.empty()) plugin.add_bytes(PluginField::content, data);
    }

    std::string text_, summary_;
    pbf_builder<EventField> event_;
};

/// Leaves out what was not measured.
void add_part(EventMaker& event, const char* part, const PartFigures& figures) {
    if (!figures.known()) return;
    event.add(part, "loss", figures.loss);
    for (const MetricValue& metric : figures.metrics)
        if (!std::isnan(metric.value)) event.add(part, metric.key, metric.value);
}

using Hparams = std::vector<std::pair<std::string, ordered_json>>;

void flatten(const ordered_json& value, const std::string& path, Hparams& out) {
    if (value.is_object()) {
        for (const auto& [key, each] : value.items())
            flatten(each, path.empty() ? key : path + "." + key, out);
    } else if (value.is_array()) {
        out.emplace_back(path, dumped(value));
    } else if (!value.is_null()) {
        out.emplace_back(path, value);
    }
}

/// The settings without those that say how a run is kept and looked at.
Hparams hparams_of(const RunConfig& config) {
    auto settings = ordered_json::parse(to_json(completed(config)));
    for (const char* section : {"checkpoint", "instruments", "log"}) settings.erase(section);
    if (broken_on_purpose(config).empty()) settings.erase("teach");
    Hparams out;
    flatten(settings, "", out);
    return out;
}

HparamType type_of(const ordered_json& value) {
    if (value.is_boolean()) return HparamType::flag;
    return value.is_number() ? HparamType::number : HparamType::text;
}

/// A builder writes to `data` until it is destroyed.
void add_experiment(std::string& data, const Hparams& hparams, std::span<const Metric> metrics,
                    double time) {
    pbf_builder<HparamsField> plugin(data);
    plugin.add_int32(HparamsField::version, 0);
    pbf_builder<ExperimentField> experiment(plugin, HparamsField::experiment);
    experiment.add_double(ExperimentField::time_created, time);
    for (const auto& [name, value] : hparams) {
        pbf_builder<HparamField> info(experiment, ExperimentField::hparams);
        info.add_string(HparamField::name, name);
        info.add_enum(HparamField::type, static_cast<std::int32_t>(type_of(value)));
    }
    const auto add_metric = [&](const std::string& tag, Dataset set) {
        pbf_builder<MetricField> info(experiment, ExperimentField::metrics);
        {
            pbf_builder<MetricNameField> name(info, MetricField::name);
            name.add_string(MetricNameField::tag, tag);
        }
        info.add_enum(MetricField::dataset, static_cast<std::int32_t>(set));
    };
    for (const Metric& metric : metrics) add_metric("test/" + metric.key, Dataset::validation);
    add_metric("test/loss", Dataset::validation);
    add_metric("train/loss", Dataset::training);
}

void add_session(std::string& data, const Hparams& hparams, double time) {
    pbf_builder<HparamsField> plugin(data);
    pbf_builder<StartField> start(plugin, HparamsField::start);
    for (const auto& [name, value] : hparams) {
        pbf_builder<EntryField> entry(start, StartField::hparams);
        entry.add_string(EntryField::key, name);
        pbf_builder<AnyField> any(entry, EntryField::value);
        if (value.is_boolean())
            any.add_bool(AnyField::flag, value.get<bool>());
        else if (value.is_number())
            any.add_double(AnyField::number, value.get<double>());
        else
            any.add_string(AnyField::text, value.get<std::string>());
    }
    start.add_double(StartField::time, time);
}

}  // namespace

std::uint32_t tensorboard_checksum(std::string_view bytes) {
    const std::uint32_t crc = crc32c(bytes);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

std::string tensorboard_file_name(double time) {
    return "events.out.tfevents." + std::to_string(static_cast<std::int64_t>(time)) + ".halftone";
}

std::string tensorboard_version(double time) {
    EventMaker event(time, 0);
    event.add_version();
    return event.made();
}

std::string tensorboard_settings(const RunConfig& config, std::span<const Metric> metrics,
                                 double time) {
    EventMaker text(time, 0);
    text.add_text("settings", "```json\n" + to_json(config) + "\n```");
    const Hparams hparams = hparams_of(config);
    EventMaker session(time, 0);
    std::string experiment, start;
    add_experiment(experiment, hparams, metrics, time);
    add_session(start, hparams, time);
    session.add_hparams("experiment", experiment);
    session.add_hparams("session_start_info", start);
    return text.made() + session.made();
}

std::string tensorboard_row(const StepRecord& row, std::span<const Metric> metrics, double time) {
    EventMaker event(time, row.step);
    for_each_named_field(metrics, [&](std::string_view field, auto member) {
        const auto number = static_cast<double>(row.*member);
        // The clock is the event's own time.
        if (field == "step" || field == "clock_s") return;
        if (std::isnan(number) && !nan_is_a_value(field)) return;
        event.add("train", field, number);
    });
    event.add("train", "skipped", static_cast<double>(row.step - row.updates));
    return event.made();
}

std::string tensorboard_epoch(const EpochDone& epoch, double time) {
    EventMaker made(time, epoch.step);
    if (epoch.epoch_ended) add_part(made, "epoch", epoch.train);
    add_part(made, "validation", epoch.validation);
    add_part(made, "test", epoch.test);
    return made.made();
}

std::string tensorboard_restart(std::int64_t step, double time) {
    EventMaker event(time, step);
    event.add_restart();
    return event.made();
}

std::string tensorboard_end(bool failed, double time) {
    std::string data;
    {
        pbf_builder<HparamsField> plugin(data);
        pbf_builder<EndField> end(plugin, HparamsField::end);
        end.add_enum(EndField::status,
                     static_cast<std::int32_t>(failed ? Status::failure : Status::success));
        end.add_double(EndField::time, time);
    }
    EventMaker event(time, 0);
    event.add_hparams("session_end_info", data);
    return event.made();
}

void tensorboard_history(const std::filesystem::path& run_folder, const StepRecordReader& record,
                         std::int64_t rows, std::span<const Metric> metrics, double time,
                         const PutRecords& put) {
    double now = time;
    std::int64_t written = 0;
    const auto write_rows_to = [&](std::int64_t step) {
        std::vector<StepRecord> piece;
        const std::int64_t end = std::min(step, rows);
        while (written < end) {
            piece.resize(static_cast<std::size_t>(std::min(board_rows_at_once, end - written)));
            record.rows(written, piece);
            written += std::ssize(piece);
            std::string records;
            for (const StepRecord& row : piece) {
                now = row.clock_s > 0 ? row.clock_s : time + row.elapsed_s;
                records += tensorboard_row(row, metrics, now);
            }
            put(records, now, static_cast<double>(written) / static_cast<double>(rows));
        }
    };
    EventFile(run_folder).for_each([&](Event&& event) {
        const auto* epoch = std::get_if<EpochDone>(&event);
        if (epoch == nullptr || epoch->step > rows) return;
        write_rows_to(epoch->step);
        put(tensorboard_epoch(*epoch, now), now,
            static_cast<double>(written) / static_cast<double>(rows));
    });
    write_rows_to(rows);
}

}  // namespace engine
