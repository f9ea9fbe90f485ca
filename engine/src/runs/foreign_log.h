#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// The figures of a run that another program logged under names of its own, by step.
struct ForeignLog {
    struct Step {
        double clock = 0;  ///< seconds since 1970; 0: unknown
        std::vector<std::pair<std::uint32_t, double>> figures{};  ///< place in `names`, and value
    };

    std::string program;  ///< "TensorBoard"
    std::string title{};
    std::vector<std::string> names{};
    std::map<std::int64_t, Step> steps{};
    std::vector<std::pair<std::string, std::string>> settings{};
    std::vector<Message> warnings{};

    std::uint32_t place_of(const std::string& name);
    /// A later value of the same step and name counts. Throws Error(data) for more figures than a
    /// log can have.
    void add(std::int64_t step, const std::string& name, double value, double clock);
    /// The steps from this one on are computed again.
    void take_back_from(std::int64_t step) { steps.erase(steps.lower_bound(step), steps.end()); }

private:
    std::map<std::string, std::uint32_t> places_{};
    std::int64_t count_ = 0;
};

/// Whether a path is a log of another program by its name: a folder, an event file, a table.
bool is_foreign_log(const std::filesystem::path& path);
/// Whether it is an event file of TensorBoard, or a folder with one in it.
bool has_event_files(const std::filesystem::path& path);
/// Its runs, read by what the path is.
std::vector<ForeignLog> read_foreign_logs(const std::filesystem::path& path);
/// The runs of an event file, or of a folder with event files in it or below it, a run for each
/// folder. A file that is cut off or damaged counts up to there. Throws Error(data) if there is
/// none.
std::vector<ForeignLog> read_tensorboard_logs(const std::filesystem::path& path);
/// The runs of a CSV file: steps in rows, figures in columns. Columns "RUN - NAME", as W&B exports
/// a chart, are a run for each RUN. Throws Error(data).
std::vector<ForeignLog> read_csv_logs(const std::filesystem::path& file);

/// Writes the run of each log into a folder of its own in `folder`, and returns these. A row is a
/// step that has a loss, or any step where none has; other figures have their last value since the
/// row before. Rows count from 1: where the log has only some of its steps, `samples` holds the
/// step, and is called so. Throws Error(data) for a log without a figure, and Error(io).
std::vector<std::filesystem::path> write_foreign_runs(const std::vector<ForeignLog>& logs,
                                                      const std::filesystem::path& folder);

}  // namespace engine
