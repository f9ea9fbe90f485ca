#include "instruments/skips/skip_files.h"

#include <fstream>
#include <sstream>
#include <system_error>

#include "engine/base/error.h"
#include "engine/instruments/skips.h"
#include "engine/io/picture.h"
#include "instruments/skips/sample_sheet.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t largest_report = 64 << 20;

fs::path folder_of(const fs::path& run_folder) { return run_folder / "skips"; }

fs::path made_folder(const fs::path& run_folder) {
    fs::path folder = folder_of(run_folder);
    std::error_code error;
    make_private_folders(folder, error);
    if (error) throw_write_error(folder, error.value());
    return folder;
}

std::optional<SkipReport> read_report(const fs::path& file) {
    std::error_code error;
    if (fs::file_size(file, error) > largest_report || error) return std::nullopt;
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    try {
        return parse_skip_report(text.str());
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace

std::map<std::int64_t, SkipReport> read_skip_reports(const fs::path& run_folder) {
    std::map<std::int64_t, SkipReport> out;
    std::error_code error;
    for (fs::directory_iterator it(folder_of(run_folder), error), end; !error && it != end;
         it.increment(error)) {
        std::error_code ignored;
        if (!fs::is_regular_file(it->symlink_status(ignored)) || it->path().extension() != ".json")
            continue;
        if (auto report = read_report(it->path())) {
            const std::int64_t step = report->step;
            out.insert_or_assign(step, std::move(*report));
        }
    }
    return out;
}

fs::path skip_picture(const fs::path& run_folder, std::int64_t step) {
    return folder_of(run_folder) / (std::to_string(step) + ".png");
}

void write_skip_report(const fs::path& run_folder, const SkipReport& report) {
    write_file(made_folder(run_folder) / (std::to_string(report.step) + ".json"),
               to_json_line(report) + "\n");
}

void keep_examination(const fs::path& run_folder, const StepCapsule& capsule,
                      const SkipReport& report) {
    // The picture first, so that a report is never without its picture.
    made_folder(run_folder);
    if (const auto picture = sample_sheet(capsule, report))
        write_file(skip_picture(run_folder, report.step), png_bytes(*picture));
    write_skip_report(run_folder, report);
}

}  // namespace engine
