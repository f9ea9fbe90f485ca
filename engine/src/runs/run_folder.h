#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "engine/settings/run_config.h"
#include "io/file/file_lock.h"

namespace engine {

/// Files of a run's folder beside its step record.
inline constexpr char config_file[] = "config.json";
inline constexpr char events_file[] = "events.jsonl";
inline constexpr char notes_file[] = "notes.json";
inline constexpr char lock_file[] = "lock";
inline constexpr char request_file[] = "request.json";
/// Begins the name of a folder under the root in which an import is unpacked.
inline constexpr char import_prefix[] = ".import-";
/// Pictures that its model drew.
inline constexpr char samples_folder[] = "samples";

/// When a run was made: the clock for sorting, the text for people.
struct Moment {
    std::int64_t microseconds = 0;  ///< since 1970, UTC
    std::string local;              ///< ISO 8601, local time
    static Moment now();
    /// When the file was last written; 1970 if that cannot be found.
    static Moment of(const std::filesystem::path& file);
};

/// Notes that a person added to a run.
struct RunNotes {
    std::string notes;
    std::string tags;
    std::string title;
    bool starred = false;
};

/// The highest number that was ever given to a run; 0: none was. It is kept in the root's lock
/// file, which the caller holds.
std::int64_t last_number(const FileLock& root_lock);
/// Makes a folder under the root whose name is a number above all that were ever used: by folders
/// there, and by the names in `taken`. Throws Error(io).
std::filesystem::path make_numbered_folder(const std::filesystem::path& root,
                                           const FileLock& root_lock,
                                           const std::function<bool(const std::string&)>& taken);
/// The number in a folder's name; 0 if the name is no number.
std::int64_t number_of(const std::filesystem::path& folder);
/// Makes a given folder, or takes it if it is empty. Throws Error(settings) for a folder that
/// cannot be used, and Error(io) for a full disk.
void make_given_folder(const std::filesystem::path& folder);

/// Writes config.json and the first line of events.jsonl. Throws Error(io).
void write_new_run(const std::filesystem::path& folder, const std::string& run,
                   const RunConfig& config, const Moment& made, const std::string& group,
                   std::int64_t group_number);
/// Takes the files of write_new_run away again, and the folder if nothing else is in it.
void remove_new_run(const std::filesystem::path& folder);
/// Removes a numbered folder that a killed process left before it had settings, and what a killed
/// import has unpacked. The caller knows that nobody holds it. Leaves a folder alone that has
/// other files, and one without a lease that is younger than a lease's patience: its program may be
/// about to take it. `alone`: no other program makes runs now. `has_dead_lease`: when it was looked
/// at; a lease that has been taken since is another one's.
void remove_unfinished_run(const std::filesystem::path& folder, bool alone, bool has_dead_lease);
/// Removes files and checkpoints that a killed process left unfinished in the folder of a run that
/// nobody holds: "*.part". Those that name a living process of this machine stay, and a whole
/// checkpoint that was moved aside goes back (settle_replaced_checkpoints).
void sweep_run_folder(const std::filesystem::path& folder);
/// Whether a name is that of the lock or of a lease of a run, or of a request to its holder.
bool is_hold_file(const std::string& name);
/// Whether a path below a run's folder is that of an unfinished file, or lies in an unfinished
/// checkpoint.
bool is_unfinished_file(const std::filesystem::path& path);

/// Whether the folder is that of a run.
bool has_settings(const std::filesystem::path& folder);
/// Its first 256 MiB; empty if it cannot be read or is not a regular file.
std::string read_text(const std::filesystem::path& file);
void write_notes(const std::filesystem::path& folder, const RunNotes& notes);
RunNotes read_notes(const std::filesystem::path& folder);

}  // namespace engine
