#include <cstddef>
#include <string>
#include <vector>

#include "engine/runs/export.h"
#include "io/file/atomic_file.h"
#include "io/file/work_progress.h"
#include "runs/stored_run.h"
#include "runs/tensorboard_events.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 20;

void write_board(const StoredRun& run, const StepRecordReader& record, AtomicFile& file) {
    const double made = static_cast<double>(run.made.microseconds) * 1e-6;
    const RunSummary& summary = run.summary;
    std::vector<Metric> step_metrics = classification_metrics();
    if (const auto started = last_start(summary.folder)) step_metrics = started->step_metrics;
    std::string text =
        tensorboard_version(made) + tensorboard_settings(summary.config, summary.metrics, made);
    double last = made;
    tensorboard_history(summary.folder, record, record.size(), step_metrics, made,
                        [&](const std::string& records, double time, double share) {
                            text += records;
                            last = time;
                            if (text.size() >= bytes_at_once) {
                                file.write(text);
                                text.clear();
                            }
                            report_work(share);
                        });
    if (summary.state != running_state)
        text += tensorboard_end(summary.state == "failed" || summary.state == "diverged", last);
    file.write(text);
}

}  // namespace

void export_tensorboard(const fs::path& run_folder, const fs::path& folder) {
    const StepRecordReader record = StepRecordReader::open(run_folder);
    const StoredRun run = read_stored_run(run_folder, keep_no_event);
    std::error_code error;
    const bool is_new = !fs::exists(folder, error);
    fs::create_directories(folder, error);
    if (error) throw_write_error(folder, error.value());
    const double made = static_cast<double>(run.made.microseconds) * 1e-6;
    try {
        AtomicFile file(folder / tensorboard_file_name(made));
        write_board(run, record, file);
        file.commit();
    } catch (...) {
        // The file itself is gone by now; a folder that others use is not empty.
        if (is_new) fs::remove(folder, error);
        throw;
    }
}

}  // namespace engine
