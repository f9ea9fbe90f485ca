#include "runs/run_archive.h"

#include <algorithm>
#include <array>
#include <set>
#include <system_error>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "io/file/line_reader.h"
#include "io/file/work_progress.h"
#include "io/zip/zip.h"
#include "record/event_json.h"
#include "record/record_layout.h"
#include "runs/event_file.h"
#include "runs/run_folder.h"
#include "runs/run_hold.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t max_entries = 10000;
constexpr std::size_t max_name_size = 200;
/// Depth of the files of several runs.
constexpr std::size_t max_depth_in_group = max_depth_in_run + 1;
/// A record of steps that hardly differ packs well, but not to a hundredth.
constexpr std::uint64_t max_growth = 100, free_growth = 64 << 20;
/// Bounds of what is read as one text.
constexpr std::uintmax_t max_settings_bytes = 1 << 20, max_events_bytes = 256 << 20;
/// A step writes at most a few, and a run without steps its warnings.
constexpr std::int64_t max_events = 1000, max_events_of_step = 20;

[[noreturn]] void refuse(const fs::path& file, const Message& reason) {
    throw Error(ErrorCode::data,
                msg("{}: not a run that can be imported: {}", file.string(), reason.str()),
                msg("Give a file that halftone export --to run wrote."));
}

bool is_plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

/// Goes over an archive once: to look at it, or to unpack it.
class Unpacker {
public:
    enum class Aim { look, unpack };
    Unpacker(const fs::path& file, const fs::path& folder, std::size_t deepest = max_depth_in_run)
        : file_(file),
          folder_(folder),
          deepest_(deepest),
          zip_(file),
          left_(zip_.file_bytes() * max_growth + free_growth) {}

    /// `work`: counts the bytes that are unpacked.
    void run(Aim aim, WorkCount* work = nullptr) {
        work_ = work;
        while (const ZipEntry* entry = zip_.next()) {
            if (++entries_ > max_entries) refuse(file_, msg("it has too many entries"));
            std::string name = entry->name;
            if (entry->is_folder && name.ends_with('/')) name.pop_back();
            check(*entry, name);
            // Archives of earlier versions may have the beginning of a checkpoint.
            const bool wanted = entry->is_file && !is_unfinished_file(name);
            if (wanted && aim == Aim::unpack) write(name, entry->bytes);
        }
    }

    /// Whether the archive has this file, once run() has looked at it.
    bool has(const std::string& name) const { return names_.contains(lower(name)); }
    /// Bytes of all files that it has, unpacked; known once run() has looked at them.
    std::uint64_t bytes() const { return bytes_; }

private:
    void check(const ZipEntry& entry, const std::string& name) {
        if (!is_archived_name(name, deepest_))
            refuse(file_, msg("it has an entry with an unsafe name: {}", printable(name)));
        if (!entry.is_file && !entry.is_folder)
            refuse(file_, msg("{} is a link or a device", name));
        if (entry.is_file &&
            (is_hold_file(fs::path(name).filename()) || !names_.insert(lower(name)).second))
            refuse(file_, msg("{} appears twice, or is not part of a run", name));
        if (entry.is_file && (!entry.has_bytes || entry.bytes > left_))
            refuse(file_, msg("it unpacks to more than a file of {} bytes can contain",
                              zip_.file_bytes()));
        left_ -= entry.is_file ? entry.bytes : 0;
        bytes_ += entry.is_file ? entry.bytes : 0;
    }

    static std::string printable(const std::string& name) {
        std::string out = name.substr(0, 60);
        std::replace_if(
            out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
        return out;
    }

    /// Two names that some file systems hold for one are one.
    static std::string lower(std::string name) {
        for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        return name;
    }

    void write(const std::string& name, std::uint64_t bytes) {
        const fs::path place = folder_ / name;
        std::error_code error;
        make_private_folders(place.parent_path(), error);
        if (error || fs::exists(place, error))
            refuse(file_, msg("{} appears twice, or is not part of a run", name));
        AtomicFile out(place);
        std::array<std::byte, 1 << 16> block{};
        while (bytes > 0) {
            const auto part = std::span(block).first(std::min<std::uint64_t>(bytes, block.size()));
            bytes -= part.size();
            if (bytes == 0) {
                zip_.read_whole(part);
            } else if (zip_.read(part) != part.size()) {
                refuse(file_, msg("{} does not have the stated length", name));
            }
            out.write(part);
            if (work_ != nullptr) work_->add(part.size());
        }
        if (zip_.read(std::span(block).first(1)) != 0)
            refuse(file_, msg("{} does not have the stated length", name));
        out.commit();
    }

    const fs::path& file_;
    const fs::path& folder_;
    const std::size_t deepest_;
    ZipReader zip_;
    std::uint64_t left_;
    std::uint64_t bytes_ = 0;
    WorkCount* work_ = nullptr;
    std::size_t entries_ = 0;
    std::set<std::string> names_;
};

/// Bytes of a file of the run; 0 if it is not there.
std::uintmax_t size_in(const fs::path& folder, const char* file) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(folder / file, error);
    return error ? 0 : bytes;
}

/// A file of events packs to nearly nothing, and each command that reads the run would take the
/// time for all of them.
void check_events(const fs::path& file, const fs::path& folder, std::int64_t rows) {
    const std::int64_t most = max_events + max_events_of_step * rows;
    LineReader lines(folder / events_file);
    for (std::string line; lines.next(line);) {
        if (lines.count() > most)
            refuse(file, msg("it has more than {} events for {} recorded steps", most, rows));
    }
}

void check_run(const fs::path& file, const fs::path& folder) {
    std::error_code error;
    if (size_in(folder, events_file) > max_events_bytes ||
        size_in(folder, notes_file) > max_settings_bytes)
        refuse(file, msg("its events or notes are longer than those of any run"));
    if (size_in(folder, config_file) > max_settings_bytes ||
        !read_json_file(folder / config_file).is_object())
        refuse(file, msg("it has no settings"));
    std::int64_t rows = 0;
    try {
        if (fs::exists(folder / record_layout::file_name, error))
            rows = StepRecordReader::open(folder).size();
    } catch (const Error& damage) {
        refuse(file, damage.message());
    }
    check_events(file, folder, rows);
}

}  // namespace

bool is_archived_name(std::string_view name, std::size_t deepest) {
    std::size_t depth = 1, begin = 0;
    if (name.empty() || name.size() > max_name_size) return false;
    for (std::size_t i = 0; i <= name.size(); ++i) {
        if (i < name.size() && name[i] != '/') {
            if (!is_plain(name[i])) return false;
            continue;
        }
        if (i == begin || name[begin] == '.') return false;
        depth += i < name.size() ? 1 : 0;
        begin = i + 1;
    }
    return depth <= deepest;
}

void unpack_run(const fs::path& file, const fs::path& folder) {
    Unpacker look(file, folder);
    look.run(Unpacker::Aim::look);
    // Looks again at each entry: the file may have changed.
    WorkCount work(look.bytes());
    Unpacker(file, folder).run(Unpacker::Aim::unpack, &work);
    check_run(file, folder);
}

std::vector<fs::path> unpack_runs(const fs::path& file, const fs::path& folder) {
    const auto name_of = [](std::size_t number) {
        return std::string(archived_run) + std::to_string(number);
    };
    Unpacker look(file, folder, max_depth_in_group);
    look.run(Unpacker::Aim::look);
    if (!look.has(name_of(1) + '/' + config_file)) {
        const fs::path only = folder / name_of(1);
        if (const int failure = make_private_folder(only); failure != 0)
            throw_write_error(only, failure);
        unpack_run(file, only);
        return {only};
    }
    WorkCount work(look.bytes());
    Unpacker(file, folder, max_depth_in_group).run(Unpacker::Aim::unpack, &work);
    std::vector<fs::path> out;
    while (has_settings(folder / name_of(out.size() + 1))) {
        out.push_back(folder / name_of(out.size() + 1));
        check_run(file, out.back());
    }
    const auto entries = std::distance(fs::directory_iterator(folder), fs::directory_iterator());
    if (entries != std::ssize(out)) refuse(file, msg("it has other files than those of its runs"));
    return out;
}

void rename_run(const fs::path& folder, const std::string& run, const fs::path& place,
                const std::string& group) {
    AtomicFile out(folder / events_file);
    // A run whose first line is lost gets its id by another.
    if (EventFile(folder).made().microseconds == 0) {
        const Moment made = Moment::of(folder / config_file);
        const json created = {{"event", "created"},
                              {"run", run},
                              {"time", made.local},
                              {"microseconds", made.microseconds}};
        out.write(created.dump() + '\n');
    }
    constexpr std::size_t block = std::size_t{64} << 10;
    std::string text;
    LineReader lines(folder / events_file);
    for (std::string line; lines.next(line);) {
        json object = read_json(line, event_bounds);
        if (!object.is_object()) continue;
        object["run"] = run;
        if (!group.empty() && object.contains("group")) {
            object["group"] = group;
            object.erase("group_number");
        }
        if (object.contains("folder")) object["folder"] = place.string();
        text += dumped(object) + '\n';
        if (text.size() < block) continue;
        out.write(text);
        text.clear();
    }
    out.write(text);
    out.commit();
}

}  // namespace engine
