#include "runs/kept_index.h"

#include <algorithm>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"
#include "io/file/mapped_file.h"
#include "runs/outside_folders.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

/// The readable entries of the root, sorted by name.
std::vector<fs::path> entries(const fs::path& root) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error))
        paths.push_back(it->path());
    std::sort(paths.begin(), paths.end());
    return paths;
}

/// Folders of runs under the root.
std::vector<fs::path> run_folders(const fs::path& root) {
    std::vector<fs::path> folders = entries(root);
    std::erase_if(folders, [](const fs::path& folder) { return !has_settings(folder); });
    return folders;
}

/// The folders that a readable index lists.
std::vector<fs::path> indexed_folders(const fs::path& index) {
    std::vector<fs::path> folders;
    try {
        Database database(index);
        Statement rows(database, "SELECT folder FROM runs");
        while (rows.step()) folders.emplace_back(rows.text(0));
    } catch (const DamagedDatabase&) {
    } catch (const BusyDatabase&) {
    } catch (const Error&) {
    }
    return folders;
}

/// Folders of runs under the root, and of those elsewhere that were listed or that `indexed` has.
std::vector<fs::path> known_folders(const fs::path& root, const std::vector<fs::path>& indexed) {
    std::vector<fs::path> outside = OutsideFolders(root).all();
    outside.insert(outside.end(), indexed.begin(), indexed.end());
    std::vector<fs::path> folders = run_folders(root);
    for (const fs::path& folder : outside) {
        const bool known = std::ranges::find(folders, folder) != folders.end();
        if (folder.parent_path() != root && !known && has_settings(folder))
            folders.push_back(folder);
    }
    return folders;
}

/// Renames a damaged index, so that it can be examined later and a new one can take its name.
fs::path put_aside(const fs::path& index) {
    std::error_code error;
    fs::path aside;
    do {
        aside = index.string() + ".damaged-" + std::to_string(Moment::now().microseconds);
    } while (fs::exists(aside, error));
    fs::rename(index, aside, error);
    if (error) throw_write_error(index, error.value());
    fs::rename(index.string() + "-wal", aside.string() + "-wal", error);
    fs::remove(index.string() + "-wal", error);
    fs::remove(index.string() + "-shm", error);
    return aside;
}

}  // namespace

RunIndex& KeptIndex::opened() {
    if (index_ && is_replaced()) index_.reset();
    if (!index_) exclusively([this](const FileLock&) { open(); });
    return *index_;
}

void KeptIndex::open() {
    // Absent, or a file that a full disk left empty.
    std::error_code ignored;
    const bool fresh = !fs::exists(path(), ignored) || fs::file_size(path(), ignored) == 0;
    try {
        take_file();
        if (fresh) {
            index_->rebuild(known_folders(root_, {}));  // the index alone may have been removed
        } else {
            adopt();
        }
        sweep();
    } catch (const BusyDatabase&) {
        if (!index_) throw;  // else what could not be entered is entered at the next start
    }
}

void KeptIndex::take_file() {
    index_.reset();
    index_ = std::make_unique<RunIndex>(path());
    if (::stat(path().c_str(), &file_) != 0) file_ = {};
}

bool KeptIndex::is_replaced() const {
    struct stat now {};
    return ::stat(path().c_str(), &now) != 0 || now.st_ino != file_.st_ino ||
           now.st_dev != file_.st_dev;
}

/// Enters folders that the index lacks: a process may have been killed while it made a run.
void KeptIndex::adopt() {
    const std::set<std::string> known = index_->folders();
    OutsideFolders(root_).add({known.begin(), known.end()});  // of earlier versions
    std::vector<fs::path> unknown;
    for (const auto& entry : entries(root_)) {
        if (!known.contains(entry.string()) && has_settings(entry)) unknown.push_back(entry);
    }
    if (!unknown.empty()) index_->adopt(unknown);
}

/// Whether the lock of the root, which this process has, keeps others from making runs: not where
/// the file system has no locks, or where another machine may see the root.
bool KeptIndex::is_alone() const {
    return FileLock::is_held(root_ / lock_name) && lock_ && !is_on_network(lock_->file());
}

/// Removes what killed programs left unfinished: imports, runs that had no settings yet, and files
/// in runs that nobody writes.
void KeptIndex::sweep() {
    const bool alone = is_alone();
    const std::set<std::string> known = index_->folders();
    for (const auto& entry : entries(root_)) {
        std::error_code ignored;
        if (known.contains(entry.string()) || !fs::is_directory(entry, ignored)) continue;
        const LeaseState holder = index_->holder(entry);
        if (!holder.held) remove_unfinished_run(entry, alone, holder.present);
    }
    for (const fs::path& folder : index_->unended_folders()) {
        if (!index_->holder(folder).held) sweep_run_folder(folder);
    }
}

void KeptIndex::mend() {
    exclusively([this](const FileLock&) {
        try {
            // Another process may have found the damage first.
            if (!index_ || is_replaced()) return open();
        } catch (const DamagedDatabase&) {
        }
        build_anew();
    });
}

void KeptIndex::build_anew() {
    try {
        index_.reset();
        const auto folders = known_folders(root_, indexed_folders(path()));
        const fs::path aside = put_aside(path());
        take_file();
        index_->rebuild(folders);
        warnings_.push_back(msg(
            "The run history was damaged and was rebuilt from the run folders; the old file is {}.",
            aside.string()));
    } catch (const DamagedDatabase&) {
        index_.reset();
        throw_damaged();
    }
}

void KeptIndex::rebuild() {
    exclusively([this](const FileLock&) {
        use([this](RunIndex& index) {
            index.rebuild(known_folders(root_, indexed_folders(path())));
        });
    });
}

void KeptIndex::throw_damaged() const {
    throw Error(ErrorCode::io,
                msg("{}: the run history is damaged and cannot be rebuilt", path().string()),
                msg("Move the file away; the history is then built from the run folders."));
}

}  // namespace engine
