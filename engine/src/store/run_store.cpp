#include "engine/run_store.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <limits>
#include <map>
#include <random>
#include <sstream>
#include <thread>
#include <type_traits>

#include "engine/error.h"
#include "file/atomic_file.h"
#include "file/retry.h"
#include "store/kept_index.h"
#include "store/open_run.h"
#include "store/run_archive.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto patience = 2s;           ///< of people, for another program that holds the index
constexpr auto start_patience = 200ms;  ///< of a start; writers of ours are done in milliseconds
constexpr auto retry_interval = 10ms;

const std::string& run_of(const Event& event) {
    return std::visit([](const auto& e) -> const std::string& { return e.run; }, event);
}

bool ends_run(const Event& event) {
    return std::holds_alternative<RunDone>(event) || std::holds_alternative<RunFailed>(event);
}

fs::path made_root(const fs::path& root) {
    std::error_code error;
    fs::create_directories(root, error);
    if (error) throw_write_error(root, error.value());
    if (::access(root.c_str(), W_OK | X_OK) != 0) throw_write_error(root, errno);
    fs::path made = fs::canonical(root, error);
    if (error) throw_write_error(root, error.value());
    return made;
}

}  // namespace

struct RunStore::Impl {
    const fs::path root;
    std::mutex index_mutex;  ///< guards the next four; taken before runs_mutex
    KeptIndex index;
    Retry retry;
    std::vector<Message> warnings;
    bool told = false;                    ///< what is wrong with the index
    std::mutex runs_mutex;                ///< guards runs; held for milliseconds
    std::map<std::string, OpenRun> runs;  ///< that this store has made and not ended

    explicit Impl(const fs::path& given) : root(made_root(given)), index(root) {
        wait_for_index(start_patience, [this] { index.use([](RunIndex&) {}); });
    }

    ~Impl() {
        try {
            wait_for_index(start_patience, [this] { flush(); });
        } catch (const std::exception&) {
            // The folders have it all.
        }
    }

    /// Calls f() with index_mutex held, once no other program holds the index. False if another
    /// program held it the whole time. Throws Error(io).
    template <typename F>
    bool wait_for_index(Clock::duration time, F&& f) {
        const auto deadline = Clock::now() + time;
        for (;;) {
            try {
                const std::lock_guard lock(index_mutex);
                f();
                return true;
            } catch (const BusyDatabase&) {
            }
            if (Clock::now() >= deadline) return false;
            std::this_thread::sleep_for(retry_interval);
        }
    }

    /// Calls f() for a person, who can wait.
    template <typename F>
    void wait_patiently(F&& f) {
        const bool done = wait_for_index(patience, [&] {
            try_flush();
            f();
        });
        if (done) return;
        throw Error(ErrorCode::io,
                    msg("{}: another program is using the run history", index.path().string()),
                    msg("Close that program, or try again later."));
    }

    /// Returns f(RunIndex&). For calls of a person, who can wait for the index.
    template <typename F>
    auto ask(F&& f) {
        using Answer = std::invoke_result_t<F, RunIndex&>;
        if constexpr (std::is_void_v<Answer>) {
            wait_patiently([&] { index.use(f); });
        } else {
            Answer answer{};
            wait_patiently([&] { answer = index.use(f); });
            return answer;
        }
    }

    /// With index_mutex held.
    void flush() {
        const std::lock_guard lock(runs_mutex);
        for (auto it = runs.begin(); it != runs.end();) {
            OpenRun& run = it->second;
            if (!run.is_flushed()) index.use([&run](RunIndex& opened) { run.flush(opened); });
            it = run.is_over() ? runs.erase(it) : std::next(it);
        }
    }

    /// The folders have what the index cannot take now. With index_mutex held.
    void try_flush() {
        try {
            flush();
            retry.succeeded();
        } catch (const BusyDatabase&) {
            retry.failed();
        } catch (const Error&) {
            retry.failed();
        }
    }

    /// For the compute thread, which must not wait. Returns an error of the index the first time it
    /// occurs.
    std::optional<Error> flush_soon() {
        const std::unique_lock lock(index_mutex, std::try_to_lock);
        if (!lock || !retry.is_due()) return std::nullopt;
        try {
            flush();
            retry.succeeded();
        } catch (const BusyDatabase&) {
            retry.failed();
        } catch (const Error& error) {
            retry.failed();
            if (!std::exchange(told, true)) return error;
        }
        return std::nullopt;
    }
    NewRun create(const RunConfig& config, const fs::path& given, const std::string& group) {
        const std::lock_guard lock(index_mutex);
        return index.exclusively([&](const FileLock& root_lock) {
            const NewRun made =
                given.empty() ? make_numbered(root_lock) : make_given(given, root_lock);
            try {
                enter(made, config, group);
            } catch (...) {
                remove_new_run(made.folder);
                throw;
            }
            try_flush();
            return made;
        });
    }

    NewRun make_numbered(const FileLock& root_lock) {
        const fs::path folder =
            make_numbered_folder(root, root_lock, [this](const std::string& number) {
                return try_index(false, [&](RunIndex& opened) { return opened.has(number); });
            });
        return {folder.filename().string(), folder};
    }

    NewRun make_given(const fs::path& given, const FileLock& root_lock) {
        make_given_folder(given);
        const fs::path folder = fs::canonical(given);
        const std::int64_t number = number_of(folder);
        const bool was_given = number > 0 && number <= last_number(root_lock);
        const std::string id = try_index(folder.filename().string(), [&](RunIndex& opened) {
            return opened.new_id(folder, was_given);
        });
        return {id, folder};
    }

    /// Unpacks into a subfolder, where it is not mistaken for a run, and moves it to its numbered
    /// place.
    NewRun import_run(const fs::path& file) {
        std::string beside = (root / ".import-XXXXXX").string();
        if (::mkdtemp(beside.data()) == nullptr) throw_write_error(beside, errno);
        const auto clean_up = [&beside] {
            std::error_code ignored;
            fs::remove_all(beside, ignored);
        };
        try {
            const fs::path unpacked = fs::path(beside) / "run";
            fs::create_directory(unpacked);
            unpack_run(file, unpacked);
            const NewRun made = take_in(unpacked);
            clean_up();
            return made;
        } catch (...) {
            clean_up();
            throw;
        }
    }

    NewRun take_in(const fs::path& unpacked) {
        const std::lock_guard lock(index_mutex);
        return index.exclusively([&](const FileLock& root_lock) {
            const NewRun made = make_numbered(root_lock);
            std::error_code error;
            try {
                rename_run(unpacked, made.run, made.folder);
            } catch (...) {
                fs::remove(made.folder, error);
                throw;
            }
            fs::rename(unpacked, made.folder, error);  // which is empty
            if (error) {
                const int reason = error.value();
                fs::remove(made.folder, error);
                throw_write_error(made.folder, reason);
            }
            // Where the index is busy, the run is entered at the next start, as any folder is.
            try_index(0, [&](RunIndex& opened) {
                opened.adopt({made.folder});
                return 0;
            });
            return made;
        });
    }

    /// f(RunIndex&), or this where the index cannot be read now.
    template <typename T, typename F>
    T try_index(T otherwise, F&& f) {
        try {
            return index.use(f);
        } catch (const BusyDatabase&) {
            return otherwise;
        } catch (const Error&) {
            return otherwise;
        }
    }

    void enter(const NewRun& made, const RunConfig& config, const std::string& group) {
        FileLock run_lock = FileLock::take(made.folder / lock_file);
        const Moment now = Moment::now();
        write_new_run(made.folder, made.run, config, now, group);
        RunSummary run;
        run.run = made.run;
        run.folder = made.folder;
        run.started = now.local;
        run.state = running_state;
        run.config = config;
        run.group = group;
        const std::lock_guard lock(runs_mutex);
        runs.insert_or_assign(made.run, OpenRun(std::move(run_lock), std::move(run), now));
    }

    NewRun reopen(const fs::path& given, std::int64_t step) {
        std::error_code error;
        const fs::path folder = fs::canonical(given, error);
        if (error) throw_write_error(given, error.value());
        auto run_lock = FileLock::try_take(folder / lock_file);
        if (!run_lock) {
            throw Error(ErrorCode::state, msg("{}: the run is being trained", folder.string()),
                        msg("Stop it before you resume it."));
        }
        StoredRun stored = read_stored_run(folder);
        take_back_after(step, stored.events);
        RunSummary& run = stored.summary;
        run.state = running_state;
        ask([&](RunIndex& opened) { opened.replace(run, stored.made, stored.events); });
        const NewRun made{run.run, folder};
        const auto events = std::ssize(stored.events);
        const std::lock_guard lock(runs_mutex);
        runs.insert_or_assign(made.run, OpenRun(std::move(*run_lock), std::move(run),
                                                std::move(stored.made), events));
        return made;
    }

    /// With runs_mutex held.
    OpenRun& open_run(const std::string& run) {
        const auto found = runs.find(run);
        if (found == runs.end()) throw_unknown(run);
        return found->second;
    }

    [[noreturn]] static void throw_unknown(const std::string& run) {
        throw Error(ErrorCode::value, msg("{}: there is no such run in the history", run));
    }

    static RunSummary need(RunIndex& opened, const std::string& run) {
        auto found = opened.find(run);
        if (!found) throw_unknown(run);
        return std::move(*found);
    }

    /// change(RunNotes&) changes what people wrote beside a run.
    template <typename F>
    void change_notes(const std::string& run, F&& change) {
        ask([&](RunIndex& opened) {
            const RunSummary found = need(opened, run);
            RunNotes notes{found.notes, found.tags, found.title, found.starred};
            change(notes);
            write_notes(found.folder, notes);
            opened.set_notes(run, notes);
        });
    }

    /// A run that says it is running may have lost its process; one that runs has newer figures.
    static void look_at_running(RunIndex& opened, RunSummary& run) {
        if (run.state != running_state) return;
        if (FileLock::is_held(run.folder / lock_file)) return apply_record(run);
        run = opened.settle(run);
    }
};

RunStore::RunStore(fs::path root) : impl_(std::make_unique<Impl>(fs::absolute(root))) {}
RunStore::~RunStore() = default;

std::string new_run_group() {
    std::random_device source;
    std::ostringstream id;
    id << std::hex << std::setfill('0');
    for (int i = 0; i < 2; ++i) id << std::setw(8) << source();
    return id.str();
}

std::shared_ptr<RunStore> RunStore::open(const fs::path& root) {
    try {
        return std::make_shared<RunStore>(root);
    } catch (const Error& error) {
        std::error_code none;
        std::string folder = (fs::temp_directory_path(none) / "halftone-XXXXXX").string();
        if (none || ::mkdtemp(folder.data()) == nullptr) throw;
        auto store = std::make_shared<RunStore>(folder);
        store->impl_->warnings = {error.message(), error.hint(),
                                  msg("Runs are kept in the temporary folder {} for now.", folder)};
        return store;
    }
}

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

RunStore::NewRun RunStore::create(const RunConfig& config, const fs::path& folder,
                                  const std::string& group) {
    return impl_->create(config, folder, group);
}

RunStore::NewRun RunStore::reopen(const fs::path& folder, std::int64_t step) {
    return impl_->reopen(folder, step);
}

RunStore::NewRun RunStore::import_run(const fs::path& file) { return impl_->import_run(file); }

void RunStore::append(const Event& event) {
    std::optional<Error> failure;
    {
        const std::lock_guard lock(impl_->runs_mutex);
        OpenRun& run = impl_->open_run(run_of(event));
        try {
            run.append(event);
        } catch (const Error& error) {
            failure = error;
        }
    }
    const auto index_failure = impl_->flush_soon();
    if (!failure) failure = index_failure;
    if (ends_run(event)) {  // last, so that others find its end in the index, or else in the folder
        const std::lock_guard lock(impl_->runs_mutex);
        const auto found = impl_->runs.find(run_of(event));
        if (found != impl_->runs.end()) found->second.unlock();
    }
    if (failure) throw *failure;
}

void RunStore::check_folder(const std::string& run) {
    {
        const std::lock_guard lock(impl_->runs_mutex);
        impl_->open_run(run).check_folder();
    }
    if (const auto failure = impl_->flush_soon()) throw *failure;
}

std::vector<RunSummary> RunStore::list() const {
    return impl_->ask([](RunIndex& index) {
        auto runs = index.list();
        for (auto& run : runs) Impl::look_at_running(index, run);
        return runs;
    });
}

std::optional<RunSummary> RunStore::find(const std::string& run) const {
    return impl_->ask([&](RunIndex& index) {
        auto found = index.find(run);
        if (found) Impl::look_at_running(index, *found);
        return found;
    });
}

std::vector<Event> RunStore::events(const std::string& run) const {
    return impl_->ask([&](RunIndex& index) { return index.events(run); });
}

void RunStore::set_notes(const std::string& run, const std::string& notes) {
    impl_->change_notes(run, [&](RunNotes& kept) { kept.notes = notes; });
}

void RunStore::set_tags(const std::string& run, const std::string& tags) {
    impl_->change_notes(run, [&](RunNotes& kept) { kept.tags = tags; });
}

void RunStore::set_title(const std::string& run, const std::string& title) {
    impl_->change_notes(run, [&](RunNotes& kept) { kept.title = title; });
}

void RunStore::set_starred(const std::string& run, bool starred) {
    impl_->change_notes(run, [&](RunNotes& kept) { kept.starred = starred; });
}

void RunStore::remove(const std::string& run, const Discard& discard) {
    impl_->ask([&](RunIndex& index) {
        const RunSummary found = Impl::need(index, run);
        if (FileLock::is_held(found.folder / lock_file)) {
            throw Error(ErrorCode::state, msg("Run {} is being trained.", run),
                        msg("Stop it before you delete it."));
        }
        if (has_settings(found.folder)) discard(found.folder);
        const std::lock_guard lock(impl_->runs_mutex);
        impl_->runs.erase(run);
        index.remove(run);
    });
}

RunSummary RunStore::enter(const fs::path& folder) {
    std::error_code error;
    const fs::path found = fs::canonical(folder, error);
    if (error || !has_settings(found) || read_stored_run(found).summary.run.empty()) {
        throw Error(ErrorCode::data, msg("{}: not the folder of a run", folder.string()),
                    msg("Give a folder in which a run was made, with its config.json and "
                        "events.jsonl."));
    }
    return impl_->ask([&](RunIndex& index) {
        RunSummary run = index.enter(found);
        Impl::look_at_running(index, run);
        return run;
    });
}

void RunStore::rebuild() {
    impl_->wait_patiently([this] { impl_->index.rebuild(); });
}

std::vector<Message> RunStore::take_warnings() {
    const std::lock_guard lock(impl_->index_mutex);
    std::vector<Message> warnings = std::exchange(impl_->warnings, {});
    for (auto& warning : impl_->index.take_warnings()) warnings.push_back(std::move(warning));
    return warnings;
}

}  // namespace engine
