#include "engine/run_store.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

#include "engine/error.h"
#include "store/atomic_file.h"
#include "store/run_folder.h"
#include "store/run_index.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr char index_file[] = "runs.db";
constexpr char root_lock_file[] = "index.lock";
constexpr char running[] = "running";

const std::string& run_of(const Event& event) {
    return std::visit([](const auto& e) -> const std::string& { return e.run; }, event);
}

bool ends_run(const Event& event) {
    return std::holds_alternative<RunDone>(event) || std::holds_alternative<RunFailed>(event);
}

/// Figures of a run that did not write its end, from the record of its steps.
void take_figures_of_record(RunSummary& run) {
    try {
        const auto record = StepRecordReader::open(run.folder);
        if (record.size() == 0) return;
        const StepRecord last = record.row(record.size() - 1);
        run.steps = last.step;
        run.skipped = last.step - last.updates;
        run.wall_s = last.elapsed_s;
        run.peak_bytes = last.peak_bytes;
        if (last.elapsed_s > 0) {
            run.samples_per_s = static_cast<double>(last.samples) / last.elapsed_s;
        }
    } catch (const Error&) {
        // Without a record the summary keeps what the events told.
    }
}

void make_root(const fs::path& root) {
    std::error_code error;
    fs::create_directories(root, error);
    if (error) throw_write_error(root, error.value());
    if (::access(root.c_str(), W_OK | X_OK) != 0) throw_write_error(root, errno);
}

/// A damaged index makes place for a new one; its pages are kept for whoever wants to look.
fs::path put_aside(const fs::path& index) {
    const fs::path aside =
        index.string() + ".damaged-" + std::to_string(Moment::now().microseconds / 1'000'000);
    std::error_code error;
    fs::rename(index, aside, error);
    if (error) throw_write_error(index, error.value());
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(index.string() + suffix, error);
    return aside;
}

std::vector<fs::path> run_folders(const fs::path& root) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(root)) {
        if (fs::exists(entry.path() / config_file)) folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
}

}  // namespace

struct RunStore::Impl {
    fs::path root;
    std::mutex mutex;
    std::unique_ptr<RunIndex> index;
    std::map<std::string, FileLock> locks;  ///< of the runs that this store has made and not ended
    std::vector<Message> warnings;

    explicit Impl(fs::path root_) : root(std::move(root_)) {
        make_root(root);
        const FileLock lock = FileLock::take(root / root_lock_file);
        open_index();
    }

    void open_index() {
        const fs::path path = root / index_file;
        try {
            // Absent, or a file that a full disk left empty.
            std::error_code ignored;
            const bool fresh = !fs::exists(path) || fs::file_size(path, ignored) == 0;
            index = std::make_unique<RunIndex>(path);
            if (fresh) index->rebuild(run_folders(root));  // the index alone may have been removed
        } catch (const DamagedDatabase&) {
            const fs::path aside = put_aside(path);
            index = std::make_unique<RunIndex>(path);
            index->rebuild(run_folders(root));
            warnings.push_back(
                msg("The run history was damaged and was built again from the run folders; the old "
                    "file is {}.",
                    aside.string()));
        }
    }

    /// Calls f with the mutex held; damage found now is an error, and mended at the next start.
    template <typename F>
    auto guarded(F&& f) {
        const std::lock_guard lock(mutex);
        try {
            return f();
        } catch (const DamagedDatabase&) {
            throw Error(
                ErrorCode::io, msg("{}: the run history is damaged", (root / index_file).string()),
                msg("Start the program again: it builds the history anew from the run folders."));
        }
    }

    NewRun create(const RunConfig& config, const fs::path& given) {
        const FileLock root_lock = FileLock::take(root / root_lock_file);
        NewRun made;
        if (given.empty()) {
            made.folder = make_numbered_folder(root);
        } else {
            make_given_folder(given);
            made.folder = fs::canonical(given);
        }
        made.run = index->free_id(made.folder);
        try {
            FileLock run_lock = FileLock::take(made.folder / lock_file);
            enter(made, config);
            locks.insert_or_assign(made.run, std::move(run_lock));
        } catch (...) {
            remove_new_run(made.folder);
            throw;
        }
        return made;
    }

    void enter(const NewRun& made, const RunConfig& config) {
        const Moment now = Moment::now();
        write_new_run(made.folder, made.run, config, now);
        RunSummary run;
        run.run = made.run;
        run.folder = made.folder;
        run.started = now.local;
        run.state = running;
        run.config = config;
        index->insert(run, now);
    }

    RunSummary need(const std::string& run) {
        auto found = index->find(run);
        if (!found) {
            throw Error(ErrorCode::value, msg("{}: there is no such run in the history", run));
        }
        return std::move(*found);
    }

    /// A run that says it is running may have lost its process; one that runs has newer figures.
    void look_at_running(RunSummary& run) {
        if (run.state != running) return;
        take_figures_of_record(run);
        if (FileLock::is_held(run.folder / lock_file)) return;
        run.state = "interrupted";
        index->update(run);
    }

    void rebuild() {
        const FileLock lock = FileLock::take(root / root_lock_file);
        auto folders = run_folders(root);
        for (const auto& run : index->list()) {  // those that lie elsewhere are known only here
            const bool inside =
                run.folder.parent_path() == fs::canonical(root) || run.folder.parent_path() == root;
            if (!inside && fs::exists(run.folder / config_file)) folders.push_back(run.folder);
        }
        index->rebuild(folders);
    }
};

RunStore::RunStore(fs::path root) : impl_(std::make_unique<Impl>(fs::absolute(root))) {}
RunStore::~RunStore() = default;

fs::path RunStore::default_root() {
    const auto below = [](const fs::path& data) { return data / "halftone" / "runs"; };
    const char* data_home = std::getenv("XDG_DATA_HOME");
    if (data_home != nullptr && data_home[0] == '/') return below(data_home);
    const char* home = std::getenv("HOME");
    if (home == nullptr || home[0] == '\0') {
        const passwd* user = ::getpwuid(::getuid());
        home = user != nullptr ? user->pw_dir : "/";
    }
    return below(fs::path(home) / ".local" / "share");
}

const fs::path& RunStore::root() const { return impl_->root; }

RunStore::NewRun RunStore::create(const RunConfig& config, const fs::path& folder) {
    return impl_->guarded([&] { return impl_->create(config, folder); });
}

void RunStore::append(const Event& event) {
    impl_->guarded([&] {
        RunSummary run = impl_->need(run_of(event));
        append_to_file(run.folder / events_file, to_json_line(event) + "\n");
        apply(run, event);
        impl_->index->append(run, event);
        if (ends_run(event)) impl_->locks.erase(run.run);
    });
}

std::vector<RunSummary> RunStore::list() const {
    return impl_->guarded([&] {
        auto runs = impl_->index->list();
        for (auto& run : runs) impl_->look_at_running(run);
        return runs;
    });
}

std::optional<RunSummary> RunStore::find(const std::string& run) const {
    return impl_->guarded([&] {
        auto found = impl_->index->find(run);
        if (found) impl_->look_at_running(*found);
        return found;
    });
}

std::vector<Event> RunStore::events(const std::string& run) const {
    return impl_->guarded([&] { return impl_->index->events(run); });
}

void RunStore::set_notes(const std::string& run, const std::string& notes) {
    impl_->guarded([&] {
        const RunSummary found = impl_->need(run);
        write_notes(found.folder, {notes, found.tags});
        impl_->index->set_notes(run, notes);
    });
}

void RunStore::set_tags(const std::string& run, const std::string& tags) {
    impl_->guarded([&] {
        const RunSummary found = impl_->need(run);
        write_notes(found.folder, {found.notes, tags});
        impl_->index->set_tags(run, tags);
    });
}

void RunStore::rebuild() {
    impl_->guarded([&] { impl_->rebuild(); });
}

std::vector<Message> RunStore::take_warnings() {
    const std::lock_guard lock(impl_->mutex);
    return std::exchange(impl_->warnings, {});
}

}  // namespace engine
