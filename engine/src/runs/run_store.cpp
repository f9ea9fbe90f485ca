#include "engine/runs/run_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iomanip>
#include <random>
#include <sstream>
#include <utility>

#include "base/platform/this_user.h"
#include "engine/base/error.h"
#include "engine/runs/group_plan.h"
#include "engine/runs/run_group.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "runs/begin_run.h"
#include "runs/event_file.h"
#include "runs/outside_folders.h"
#include "runs/run_folder.h"
#include "runs/shared_index.h"
#include "runs/stored_run.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

bool ends_run(const Event& event) {
    return std::holds_alternative<RunDone>(event) || std::holds_alternative<RunFailed>(event);
}

fs::path made_root(const fs::path& root) {
    std::error_code error;
    make_private_folders(root, error);
    if (error) throw_write_error(root, error.value());
    if (::access(root.c_str(), W_OK | X_OK) != 0) throw_write_error(root, errno);
    fs::path made = fs::canonical(root, error);
    if (error) throw_write_error(root, error.value());
    return made;
}

RunSummary need(RunIndex& opened, const std::string& run) {
    auto found = opened.find(run);
    if (!found) throw_unknown_run(run);
    return std::move(*found);
}

bool has_ended(const RunSummary& run) {
    return run.state != running_state && run.state != interrupted_state;
}

/// Marks the run as missing, but not in the index: the folder may lie on a disk that is away for a
/// moment.
bool note_missing(RunSummary& run) {
    if (has_settings(run.folder)) return false;
    run.state = missing_state;
    return true;
}

/// A run that says it is running may have lost its process, and one that does not may be trained
/// again; one that runs has newer figures.
void bring_up_to_date(RunIndex& opened, RunSummary& run) {
    if (note_missing(run)) return;
    const LeaseState holder = opened.holder(run.folder);
    const bool runs = run.state == running_state;
    if (holder.held != runs && (runs || holder.held)) run = opened.settle(run, holder.held);
    if (run.state != running_state) return;
    apply_record(run);
    set_holder(run, holder);
}

}  // namespace

struct RunStore::Impl {
    SharedIndex index;

    explicit Impl(const fs::path& root) : index(made_root(root)) {}

    /// change(RunNotes&) changes what people wrote beside a run.
    template <typename F>
    void change_notes(const std::string& run, F&& change) {
        index.ask([&](RunIndex& opened) {
            const RunSummary found = need(opened, run);
            RunNotes notes{found.notes, found.tags, found.title, found.starred};
            change(notes);
            write_notes(found.folder, notes);
            opened.set_notes(run, notes);
        });
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
        store->impl_->index.warn(
            {error.message(), error.hint(),
             msg("Runs are kept in the temporary folder {} for now.", folder)});
        return store;
    }
}

bool is_silent(const RunSummary& run) {
    return !run.host.empty() && run.silent_s > 2 * LeaseRules::standard().renewal.count();
}

fs::path RunStore::default_root() {
    return user_folder("XDG_DATA_HOME", ".local/share") / "halftone" / "runs";
}

const fs::path& RunStore::root() const { return impl_->index.root(); }

RunStore::NewRun RunStore::create(const RunConfig& config, const fs::path& folder,
                                  const std::string& group) {
    return create_run(impl_->index, config, folder, group);
}

RunStore::NewRun RunStore::reopen(const fs::path& folder, std::int64_t step) {
    return reopen_run(impl_->index, folder, step);
}

RunStore::NewRun RunStore::import_run(const fs::path& file) {
    return import_runs(file).front();
}

std::vector<RunStore::NewRun> RunStore::import_runs(const fs::path& file) {
    return engine::import_runs(impl_->index, file);
}

void RunStore::append(const Event& event) {
    OpenRuns& runs = impl_->index.open_runs();
    std::optional<Error> failure;
    try {
        runs.append(event);
    } catch (const Error& error) {
        failure = error;
    }
    const auto index_failure = impl_->index.flush_soon();
    if (!failure) failure = index_failure;
    // Last, so that others find its end in the index, or else in the folder.
    if (ends_run(event)) runs.unlock(run_of(event));
    if (failure) throw *failure;
}

void RunStore::check_folder(const std::string& run) {
    impl_->index.open_runs().check_folder(run);
    if (const auto failure = impl_->index.flush_soon()) throw *failure;
}

std::vector<RunSummary> RunStore::list() const {
    return impl_->index.ask([](RunIndex& index) {
        auto runs = index.list();
        // The many thousand runs that have ended get one look each and no more.
        for (auto& run : runs) {
            if (has_ended(run))
                note_missing(run);
            else
                bring_up_to_date(index, run);
        }
        return runs;
    });
}

std::optional<RunSummary> RunStore::find(const std::string& run) const {
    return impl_->index.ask([&](RunIndex& index) {
        auto found = index.find(run);
        if (found) bring_up_to_date(index, *found);
        return found;
    });
}

std::vector<Event> RunStore::events(const std::string& run, const EventFilter& keep) const {
    return impl_->index.ask([&](RunIndex& index) { return index.events(run, keep); });
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
    RunSummary found;
    impl_->index.ask([&](RunIndex& index) {
        found = need(index, run);
        const LeaseState holder = index.holder(found.folder);
        if (holder.held && holder.host.empty()) {
            throw Error(ErrorCode::state, msg("Run {} is being trained.", run),
                        msg("Stop it before you delete it."));
        }
        if (holder.held) throw_held(found.folder, holder, {});
        if (has_settings(found.folder)) discard(found.folder);
        impl_->index.open_runs().remove(run);
        index.remove(run);
        OutsideFolders(root()).remove(found.folder);
    });
    if (!found.group.empty() && !is_sweep_group(found.group))
        drop_from_plan(runs_of_group(list(), found.group), found);
}

RunSummary RunStore::enter(const fs::path& folder) {
    std::error_code error;
    const fs::path found = fs::canonical(folder, error);
    if (error || !has_settings(found) || EventFile(found).run().empty()) {
        throw Error(ErrorCode::data, msg("{}: not the folder of a run", folder.string()),
                    msg("Give a folder in which a run was made, with its config.json and "
                        "events.jsonl."));
    }
    return impl_->index.ask([&](RunIndex& index) {
        OutsideFolders(root()).add({found});
        RunSummary run = index.enter(found);
        bring_up_to_date(index, run);
        return run;
    });
}

void RunStore::look_at_holder(RunSummary& run) const {
    if (run.state != running_state) return;
    const LeaseState holder =
        impl_->index.ask([&](RunIndex& index) { return index.holder(run.folder); });
    set_holder(run, holder);
    if (holder.held) return;
    run.state = interrupted_state;
    run.host.clear();
    run.paused = false;
}

void RunStore::rebuild() { impl_->index.rebuild(); }

std::vector<Message> RunStore::take_warnings() { return impl_->index.take_warnings(); }

std::vector<SamplePicture> list_sample_pictures(const fs::path& run_folder) {
    std::vector<SamplePicture> out;
    std::error_code error;
    for (fs::directory_iterator it(run_folder / samples_folder, error), end; !error && it != end;
         it.increment(error)) {
        const std::int64_t step = number_of(it->path().stem());
        if (step > 0 && it->path().extension() == ".png") out.push_back({step, it->path()});
    }
    std::ranges::sort(out, {}, &SamplePicture::step);
    return out;
}

}  // namespace engine
