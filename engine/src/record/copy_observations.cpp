#include "record/copy_observations.h"

#include <optional>
#include <system_error>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/record/histogram_record.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "record/histogram_file.h"
#include "record/quantization_file.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr char skips_folder[] = "skips";

void copy_histograms(const fs::path& from, const fs::path& to, std::int64_t step) {
    if (!HistogramRecordReader::exists(from)) return;
    const auto reader = HistogramRecordReader::open(from);
    HistogramWriter writer(to);
    for (std::size_t i = 0; i < reader.samples().size(); ++i) {
        if (reader.samples()[i].step <= step) writer.append(reader.read(i));
    }
}

void copy_casts(const fs::path& from, const fs::path& to, std::int64_t step) {
    if (!QuantizationReader::exists(from)) return;
    const auto reader = QuantizationReader::open(from);
    QuantizationWriter writer(to);
    for (const QuantizationSlot& slot : reader.slots()) writer.place_of(slot);
    for (const std::int64_t each : reader.steps())
        if (each <= step) writer.append(reader.read(each), reader.read_scale_codes(each));
}

/// The step that a file STEP.json is of.
std::optional<std::int64_t> step_of(const fs::path& file) {
    return file.extension() == ".json" ? to_number<std::int64_t>(file.stem().string())
                                       : std::nullopt;
}

void copy_skips(const fs::path& from, const fs::path& to, const std::string& run,
                std::int64_t step) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(from / skips_folder, none)) {
        const auto of = step_of(entry.path());
        if (!of || *of > step) continue;
        auto report = read_json_file(entry.path());
        if (!report.is_object()) continue;
        report["run"] = run;
        std::error_code error;
        make_private_folders(to / skips_folder, error);
        if (error) throw_write_error(to / skips_folder, error.value());
        write_file(to / skips_folder / entry.path().filename(),
                   dumped(report) + '\n');
    }
}

}  // namespace

void copy_observations(const fs::path& from, const fs::path& to, const std::string& run,
                       std::int64_t step) {
    copy_histograms(from, to, step);
    copy_casts(from, to, step);
    copy_skips(from, to, run, step);
}

}  // namespace engine
