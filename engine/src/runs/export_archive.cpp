#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/export.h"
#include "io/file/atomic_file.h"
#include "io/zip/zip.h"
#include "record/record_layout.h"
#include "runs/event_file.h"
#include "runs/run_archive.h"
#include "runs/run_folder.h"
#include "runs/run_hold.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

/// Files that a process writes beside a run only while it trains.
bool is_passing(const std::string& name) {
    return is_hold_file(name) || is_unfinished_file(name) || !is_archived_name(name);
}

using Files = std::vector<std::pair<std::string, fs::path>>;

/// The run's files by their names in the archive, sorted.
Files list_files(const fs::path& folder) {
    Files out;
    std::error_code error;
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        std::error_code ignored;
        if (!fs::is_regular_file(fs::symlink_status(it->path(), ignored))) continue;
        const std::string name = it->path().lexically_relative(folder).generic_string();
        if (!is_passing(name)) out.emplace_back(name, it->path());
    }
    std::sort(out.begin(), out.end());
    return out;
}

constexpr int max_packings = 5;  ///< of a run whose checkpoints come and go

/// The part of a run that is packed.
struct Packed {
    Files files;
    /// Rows and events up to this step.
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
};

/// A run that has ended gives everything with all checkpoints, also what cannot be read. One that
/// goes on then gives its newest checkpoint, since older ones are removed meanwhile, and the steps
/// up to it, from which it is continued elsewhere.
Packed packed_part(const fs::path& run_folder, PackedCheckpoints which, bool running) {
    const bool is_whole = which == PackedCheckpoints::all && !running;
    Packed out;
    std::string checkpoint;
    // Chosen before the files are listed: one that comes between the two would not be among them.
    if (!is_whole && which != PackedCheckpoints::none) {
        const auto all = list_checkpoints(run_folder);
        const auto found =
            which == PackedCheckpoints::all
                ? all.rbegin()
                : std::ranges::find(all.rbegin(), all.rend(), true, &CheckpointInfo::best);
        if (found != all.rend()) checkpoint = found->folder.filename().string();
        if (which == PackedCheckpoints::all && found != all.rend()) out.step = found->step;
    }
    out.files = list_files(run_folder);
    if (is_whole) return out;
    std::erase_if(out.files, [&](const auto& file) {
        const std::string first = file.first.substr(0, file.first.find('/'));
        return first.starts_with("checkpoint-") && first != checkpoint;
    });
    const auto is_of_checkpoint = [&](const auto& file) {
        return file.first.starts_with(checkpoint + '/');
    };
    if (!checkpoint.empty() && std::ranges::none_of(out.files, is_of_checkpoint))
        throw Error(ErrorCode::data,
                    msg("{}: cannot be read: {}", (run_folder / checkpoint).string(),
                        std::generic_category().message(ENOENT)));
    return out;
}

/// Rows after these are not counted in a copy of a record.
std::function<void(std::span<char>)> cut_after(std::int64_t rows) {
    return [rows](std::span<char> header) {
        constexpr std::size_t at = offsetof(record_layout::Header, published);
        std::int64_t published = 0;
        if (header.size() < at + sizeof published) return;
        std::memcpy(&published, &header[at], sizeof published);
        published = std::min(published, rows);
        std::memcpy(&header[at], &published, sizeof published);
    };
}

/// The events up to a step, read twice rather than held: an entry begins with its length.
void pack_events(const fs::path& run_folder, const std::string& name, std::int64_t step,
                 ZipWriter& zip) {
    std::int64_t bytes = 0;
    const std::int64_t lines = each_event_line_until(
        run_folder, step, [&](std::string_view line) { bytes += std::ssize(line); });
    zip.add_pieces(name, bytes, [&](const ZipWriter::Piece& write) {
        std::int64_t left = bytes;
        each_event_line_until(
            run_folder, step,
            [&](std::string_view line) {
                write(line);
                left -= std::ssize(line);
            },
            lines);
        if (left != 0)
            throw Error(ErrorCode::data,
                        msg("{}: the events changed while they were read", run_folder.string()));
    });
}

/// `prefix` is a folder in the archive, with its slash.
void pack(const fs::path& run_folder, const std::string& prefix, PackedCheckpoints which,
          bool running, ZipWriter& zip) {
    const Packed packed = packed_part(run_folder, which, running);
    for (const auto& [name, path] : packed.files) {
        if (!running)
            zip.add_file(prefix + name, path);
        else if (name == record_layout::file_name)
            zip.add_file(prefix + name, path, cut_after(packed.step));
        else if (name == events_file)
            pack_events(run_folder, prefix + name, packed.step, zip);
        else
            zip.add_file(prefix + name, path);
    }
}

/// Bytes that pack() reads, to know how far it is. Those of a run that goes on are fewer.
std::uint64_t bytes_of(const std::vector<fs::path>& run_folders, PackedCheckpoints which) {
    std::uint64_t bytes = 0;
    for (const fs::path& folder : run_folders) {
        for (const auto& [name, path] : packed_part(folder, which, false).files) {
            std::error_code gone;
            const std::uintmax_t size = fs::file_size(path, gone);
            bytes += gone ? 0 : size;
        }
    }
    return bytes;
}

/// One run without folders in the archive, or several with a folder for each.
void pack_runs(const std::vector<fs::path>& run_folders, bool own_folders, const fs::path& file,
               PackedCheckpoints which) {
    for (const fs::path& folder : run_folders) {
        if (!has_settings(folder))
            throw Error(ErrorCode::data, msg("{}: not the folder of a run", folder.string()));
    }
    for (int i = 1;; ++i) {
        bool any_runs = std::ranges::any_of(
            run_folders, [](const fs::path& folder) { return holder_of(folder).held; });
        try {
            ZipWriter zip(file);
            zip.expect(bytes_of(run_folders, which));
            for (std::size_t at = 0; at < run_folders.size(); ++at) {
                const std::string prefix =
                    own_folders ? std::string(archived_run) + std::to_string(at + 1) + '/' : "";
                const bool runs = holder_of(run_folders[at]).held;
                any_runs = any_runs || runs;
                pack(run_folders[at], prefix, which, runs, zip);
            }
            return zip.commit();
        } catch (const Error& error) {
            // A checkpoint was removed while it was read, since there is a newer one.
            if (!any_runs || error.code() != ErrorCode::data || i == max_packings) throw;
        }
    }
}

}  // namespace

void export_run_file(const fs::path& run_folder, const fs::path& file,
                     PackedCheckpoints checkpoints) {
    pack_runs({run_folder}, false, file, checkpoints);
}

void export_group_file(const std::vector<fs::path>& run_folders, const fs::path& file,
                       PackedCheckpoints checkpoints) {
    pack_runs(run_folders, true, file, checkpoints);
}

}  // namespace engine
