#include "runs/run_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <system_error>

#include "base/json_reader.h"
#include "base/platform/regular_file.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "io/file/lease.h"
#include "io/file/mapped_file.h"
#include "runs/checkpoint.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

/// Bytes read of one file: the events of a million skipped steps. A file that lies about its size
/// takes no more memory.
constexpr std::size_t max_text = std::size_t{256} << 20;

/// Beyond it a folder's name is no number of ours.
constexpr std::int64_t max_number = 1'000'000'000'000;

Moment moment(std::chrono::system_clock::time_point clock) {
    const std::time_t seconds = std::chrono::system_clock::to_time_t(clock);
    std::tm local{};
    ::localtime_r(&seconds, &local);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &local);
    const auto since =
        std::chrono::duration_cast<std::chrono::microseconds>(clock.time_since_epoch());
    return {since.count(), text.data()};
}

/// A failure costs at most a number that is free again once its folder is gone.
void set_last_number(const FileLock& root_lock, std::int64_t number) {
    const std::string text = std::to_string(number) + "\n";
    [[maybe_unused]] const auto written =
        ::pwrite(root_lock.file().descriptor(), text.data(), text.size(), 0);
}

constexpr std::string_view part_ending = ".part";

bool is_lease(const std::string& name) { return name.starts_with("lease."); }

/// One of the files that a run has before it has settings.
bool is_before_settings(const std::string& name) {
    return is_hold_file(name) || (name.starts_with(config_file) && name.ends_with(part_ending));
}

/// Whether it was written less than a lease's patience ago, by this machine's clock.
bool is_young(const fs::path& path) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0) return false;
    const double age = std::difftime(std::time(nullptr), info.st_mtime);
    return std::abs(age) < LeaseRules::standard().patience.count();
}

/// The process that writes a file of the name "NAME.PROCESS.part"; 0: the name has none.
pid_t parse_writer(std::string_view name) {
    name.remove_suffix(part_ending.size());
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos) return 0;
    return std::max<pid_t>(to_number<pid_t>(name.substr(dot + 1)).value_or(0), 0);
}

/// Removes the unfinished files of one folder.
void remove_parts(const fs::path& folder, bool shared) {
    std::vector<fs::path> doomed;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string name = it->path().filename().string();
        if (!name.ends_with(part_ending) || is_replaced_checkpoint(name)) continue;
        // Other programs write notes and pictures beside a run that nobody trains.
        const pid_t writer = is_lease(name) ? 0 : parse_writer(name);
        const bool written = writer > 0 && (::kill(writer, 0) == 0 || errno != ESRCH);
        if (!written && !(writer > 0 && shared && is_young(it->path())))
            doomed.push_back(it->path());
    }
    for (const auto& path : doomed) fs::remove_all(path, error);
}

}  // namespace

Moment Moment::now() { return moment(std::chrono::system_clock::now()); }

Moment Moment::of(const fs::path& file) {
    struct stat info {};
    if (::stat(file.c_str(), &info) != 0) return moment({});
    return moment(std::chrono::system_clock::from_time_t(info.st_mtime));
}

std::int64_t number_of(const fs::path& folder) {
    const std::string name = folder.filename().string();
    const std::int64_t number = to_number<std::int64_t>(name).value_or(0);
    return number > 0 && number < max_number && std::to_string(number) == name ? number : 0;
}

std::int64_t last_number(const FileLock& root_lock) {
    std::array<char, 24> text{};
    const ssize_t size = ::pread(root_lock.file().descriptor(), text.data(), text.size(), 0);
    const std::string_view line(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return number_of(fs::path(line.substr(0, line.find('\n'))));
}

fs::path make_numbered_folder(const fs::path& root, const FileLock& root_lock,
                              const std::function<bool(const std::string&)>& taken) {
    std::int64_t number = last_number(root_lock) + 1;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(root, ignored)) {
        number = std::max(number, number_of(entry.path()) + 1);
    }
    for (;; ++number) {
        if (taken(std::to_string(number))) continue;
        set_last_number(root_lock, number);  // before its folder can be removed
        const fs::path folder = root / std::to_string(number);
        const int failure = make_private_folder(folder);
        if (failure == 0) return folder;
        if (failure != EEXIST) throw_write_error(folder, failure);
    }
}

void make_given_folder(const fs::path& folder) {
    const auto refuse = [&](Message message) {
        throw Error(ErrorCode::settings, std::move(message),
                    msg("Give a new folder, or an empty one, where you may write."));
    };
    std::error_code error;
    make_private_folders(folder, error);
    if (error.value() == ENOSPC || error.value() == EDQUOT)
        throw_write_error(folder, error.value());
    const bool empty = !error && fs::is_empty(folder, error);
    if (error)
        refuse(msg("{}: cannot be the folder of a run: {}", folder.string(), error.message()));
    if (!empty) refuse(msg("{}: the folder for the run is not empty", folder.string()));
    if (::access(folder.c_str(), W_OK | X_OK) != 0) {
        refuse(msg("{}: cannot be the folder of a run: {}", folder.string(),
                   std::generic_category().message(errno)));
    }
}

void write_new_run(const fs::path& folder, const std::string& run, const RunConfig& config,
                   const Moment& made, const std::string& group, std::int64_t group_number) {
    write_file(folder / config_file, to_json(config) + "\n");
    json line = {{"event", "created"},
                 {"run", run},
                 {"time", made.local},
                 {"microseconds", made.microseconds}};
    if (!group.empty()) line["group"] = group;
    if (group_number > 0) line["group_number"] = group_number;
    append_lines(folder / events_file, dumped(line) + "\n");
}

void remove_new_run(const fs::path& folder) {
    std::error_code ignored;
    for (const char* file : {config_file, events_file, lock_file})
        fs::remove(folder / file, ignored);
    fs::remove(folder, ignored);
}

bool is_hold_file(const std::string& name) {
    return name == lock_file || name == request_file || is_lease(name);
}

bool is_unfinished_file(const fs::path& path) {
    return std::ranges::any_of(
        path, [](const fs::path& part) { return part.string().ends_with(part_ending); });
}

void remove_unfinished_run(const fs::path& folder, bool alone, bool has_dead_lease) {
    std::error_code error;
    const bool import = folder.filename().string().starts_with(import_prefix);
    if ((!import && number_of(folder) == 0) ||
        !fs::is_directory(fs::symlink_status(folder, error)) ||
        (!has_dead_lease && is_young(folder) && (import || !alone))) {
        return;
    }
    if (import) {
        fs::remove_all(folder, error);
        return;
    }
    std::vector<fs::path> files;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (!is_before_settings(it->path().filename().string())) return;
        files.push_back(it->path());
    }
    if (error) return;  // no folder, or one that cannot be read
    for (const auto& file : files) fs::remove(file, error);
    fs::remove(folder, error);
}

void sweep_run_folder(const fs::path& folder) {
    const File opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.is_open()) return;
    settle_replaced_checkpoints(folder);  // before the rest, whose names end as theirs do
    const bool shared = is_on_network(opened);
    remove_parts(folder, shared);
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        std::error_code ignored;
        if (fs::is_directory(it->symlink_status(ignored))) remove_parts(it->path(), shared);
    }
}

bool has_settings(const fs::path& folder) {
    std::error_code ignored;
    return fs::exists(folder / config_file, ignored);
}

std::string read_text(const fs::path& file) {
    return read_regular_file(file, max_text).value_or("");
}

void write_notes(const fs::path& folder, const RunNotes& notes) {
    json object = {{"notes", notes.notes}, {"tags", notes.tags}, {"title", notes.title}};
    if (notes.starred) object["starred"] = true;
    write_file(folder / notes_file, dumped(object) + "\n");
}

RunNotes read_notes(const fs::path& folder) {
    const json object = read_json_file(folder / notes_file);
    if (!object.is_object()) return {};
    const auto text = [&object](const char* field) {
        const auto at = object.find(field);
        return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
    };
    const auto starred = object.find("starred");
    return {text("notes"), text("tags"), text("title"),
            starred != object.end() && *starred == json(true)};
}

}  // namespace engine
