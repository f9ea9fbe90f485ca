#include <algorithm>

#include "base/json_reader.h"
#include "base/platform/regular_file.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/io/named_file.h"
#include "engine/runs/cluster.h"
#include "engine/runs/settings_presets.h"
#include "runs/cluster/job_script.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t longest_script = std::size_t{1} << 20;

fs::path user_folder() { return settings_presets_folder().parent_path(); }
fs::path cluster_file() { return user_folder() / "cluster.json"; }

/// Empty for a folder that a job can be given.
Message folder_problem(const fs::path& folder) {
    if (!folder.is_absolute())
        return msg("{}: the folder for jobs needs a whole path that begins with /",
                   folder.string());
    const std::string text = folder.string();
    const bool plain = std::ranges::none_of(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    return plain ? Message()
                 : msg("{}: the folder for jobs has a control character in its name", text);
}

fs::path read_job_folder() {
    std::error_code error;
    if (!fs::exists(cluster_file(), error)) return RunStore::default_root().parent_path() / "jobs";
    const json object = read_json_file(cluster_file(), {.bytes = 4096, .depth = 2});
    const auto folder = object.is_object() ? object.find("folder") : object.end();
    if (!object.is_object() || folder == object.end() || !folder->is_string()) {
        throw Error(ErrorCode::settings,
                    msg("{}: no JSON object with a folder for jobs", cluster_file().string()),
                    msg("Correct the file, or delete it for the default."));
    }
    fs::path out = folder->get<std::string>();
    if (const Message problem = folder_problem(out); !problem.empty())
        throw Error(ErrorCode::settings, problem,
                    msg("Correct {}, or delete it for the default.", cluster_file().string()));
    return out;
}

Message script_length_problem(const std::string& script) {
    return script.size() > longest_script ? msg("The script is longer than 1 MiB.") : Message();
}

/// The user's script, or the default if there is none.
std::string read_job_script() {
    const fs::path file = job_script_file();
    std::error_code error;
    if (fs::symlink_status(file, error).type() == fs::file_type::not_found)
        return default_job_script();
    auto script = read_regular_file(file, longest_script + 1);  // one more than may be read
    const Message hint = msg("Correct {}, or delete it for the default.", file.string());
    if (!script)
        throw Error(ErrorCode::settings, msg("{}: the file cannot be read", file.string()), hint);
    if (const Message problem = script_length_problem(*script); !problem.empty())
        throw Error(ErrorCode::settings, problem, hint);
    return std::move(*script);
}

}  // namespace

Message cluster_settings_problem(const ClusterSettings& settings) {
    Message problem = folder_problem(settings.folder);
    if (problem.empty()) problem = script_length_problem(settings.script);
    return problem.empty() ? job_script_problem(settings.script) : problem;
}

fs::path job_script_file() { return user_folder() / "slurm.sh"; }

ClusterSettings read_cluster_settings() {
    return {read_job_folder(), read_job_script()};
}

void write_cluster_settings(const ClusterSettings& settings) {
    if (const Message problem = cluster_settings_problem(settings); !problem.empty())
        throw Error(ErrorCode::settings, problem);
    std::error_code error;
    fs::create_directories(user_folder(), error);  // a failure shows when it is written
    const json object = {{"folder", settings.folder.string()}};
    write_named_file(cluster_file(), dumped(object, 2) + "\n");
    if (settings.script != default_job_script())
        write_named_file(job_script_file(), settings.script);
    else
        fs::remove(job_script_file(), error);  // a later version's default takes its place
}

}  // namespace engine
