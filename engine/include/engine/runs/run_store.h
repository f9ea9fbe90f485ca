#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/record/event.h"
#include "engine/settings/run_config.h"

namespace engine {

class RunHold;

/// One line of the run history.
struct RunSummary {
    std::string run;  ///< id
    std::filesystem::path folder;
    std::string started;  ///< local time, ISO 8601
    /// "running", "done", "stopped", "failed", "interrupted", or "diverged": the loss was NaN or
    /// infinite to the end, regardless of what ended the run. "missing": the run's folder is gone.
    std::string state;
    /// Machine of the process that trains the run, if that is another machine or container, and the
    /// seconds since its lease last changed. Empty otherwise.
    std::string host = {};
    double silent_s = 0;
    bool paused = false;  ///< it is "running", and its program waits between two steps
    RunConfig config;
    std::int64_t steps = 0;
    std::int64_t skipped = 0;
    PartFigures test;  ///< unknown: never evaluated
    std::vector<Metric> metrics = classification_metrics();
    std::string unit = "images";           ///< what one sample is called
    std::optional<RunOrigin> origin = {};  ///< RunStarted::origin
    double wall_s = 0;
    double samples_per_s = 0;
    std::int64_t peak_bytes = 0;
    std::int64_t disk_bytes = 0;   ///< of its folder; 0: not measured (engine/runs/disk_use.h)
    std::vector<float> loss_sketch = {};  ///< empty: not read (engine/record/loss_sketch.h)
    std::int64_t diverged_at = 0;  ///< RunDone::diverged_at; 0 also for runs of earlier versions
    std::string parent;            ///< the run that it went on from; empty: it began by itself
    std::string title;             ///< that a person gave it; may be empty
    std::string tags;
    std::string notes;
    bool starred = false;
    std::string group;  ///< the comparison or sweep that it belongs to; empty: none
    /// The number by which people name that comparison or sweep (engine/runs/run_group.h), never
    /// given twice in a history; 0: the run belongs to none, or the index has not numbered it yet.
    std::int64_t group_number = 0;
};

/// Which events of a run are kept in memory; sees all of them in order.
using EventFilter = std::function<bool(const Event&)>;
inline bool keep_every_event(const Event&) { return true; }
inline bool keep_no_event(const Event&) { return false; }

/// The model, and the data set, of a run by its settings, or as the program that trains it names
/// them; "-" if unknown.
std::string model_name(const RunSummary& run);
std::string dataset_name(const RunSummary& run);

/// Whether the machine that trains a run has been silent for longer than usual.
bool is_silent(const RunSummary& run);

/// An id for the runs of one comparison or sweep, which no other ones have.
std::string new_run_group();

/// Runs kept on disk: a folder each (settings, events, step record) under one root, and an index in
/// SQLite that can be rebuilt from the folders (decisions.md#step-record, D12). Thread-safe.
class RunStore {
public:
    /// Opens or creates the store: rebuilds a damaged index, and adds folders that the index lacks.
    /// An index that another program holds is used as soon as it is free. Throws Error(io) if the
    /// root is not writable or its index cannot be used.
    explicit RunStore(std::filesystem::path root);
    /// Like the constructor, but falls back to a store in a new temporary folder, with a warning,
    /// if the root cannot be used. Throws Error(io) if that fails too.
    static std::shared_ptr<RunStore> open(const std::filesystem::path& root);
    ~RunStore();
    RunStore(const RunStore&) = delete;
    RunStore& operator=(const RunStore&) = delete;

    /// $XDG_DATA_HOME/halftone/runs, else ~/.local/share/halftone/runs.
    static std::filesystem::path default_root();

    const std::filesystem::path& root() const;

    /// Makes the folder of a new run (or uses `folder`, which must be absent or empty), writes its
    /// settings there and enters it in the index. Runs of one comparison or sweep share a `group`
    /// (new_run_group()). Throws Error(io).
    struct NewRun {
        std::string run;
        std::filesystem::path folder;
        /// Asked before each row of a run that was opened to be trained whether another program has
        /// taken it over (runs/run_hold.h).
        std::shared_ptr<RunHold> hold = {};
    };
    NewRun create(const RunConfig& config, const std::filesystem::path& folder = {},
                  const std::string& group = {});
    /// Opens the folder of a run that has ended, or whose process died, in order to continue it.
    /// Takes its lock and its lease, adds it to the index if needed, and drops everything after
    /// `step` from the index. Throws Error(state) if a process is training it, and Error(io).
    NewRun reopen(const std::filesystem::path& folder, std::int64_t step);
    /// Imports a file that export_run_file() wrote (engine/runs/export.h) as a new run under the
    /// next number, with its notes, tags, title and star. Overwrites nothing; a failure leaves
    /// nothing behind. Throws Error(data) for an invalid file, and Error(io).
    NewRun import_run(const std::filesystem::path& file);
    /// Imports a file that holds one run, or all runs of a comparison or sweep
    /// (export_group_file()): these get numbers in their order, and a group of their own. Runs that
    /// were imported before a failure stay.
    std::vector<NewRun> import_runs(const std::filesystem::path& file);
    /// Appends an event to the folder of a run that this store made, and to the index. If another
    /// program locks the index for more than a few milliseconds, a later call brings it up to date.
    /// Steps are never written here. Throws Error(io), and Error(data) if the folder is gone; the
    /// index gets the event even then.
    void append(const Event& event);
    /// To be called about once a second while a run of this store trains: throws Error(data) if its
    /// folder was deleted or moved, and Error(state) if another program has taken it over.
    void check_folder(const std::string& run);

    /// list(), find(), events() and the calls after them wait up to two seconds for another program
    /// that holds the index, then throw Error(io).
    ///
    /// Newest first. A run whose process died shows as "interrupted", with the figures of its
    /// record. One on another machine counts as running until that machine has been silent for 90 s
    /// by this one's clock.
    std::vector<RunSummary> list() const;
    std::optional<RunSummary> find(const std::string& run) const;
    /// The stored events of a run that `keep` wants, in order.
    std::vector<Event> events(const std::string& run,
                              const EventFilter& keep = keep_every_event) const;
    void set_notes(const std::string& run, const std::string& notes);
    void set_tags(const std::string& run, const std::string& tags);
    void set_title(const std::string& run, const std::string& title);
    void set_starred(const std::string& run, bool starred);
    /// Removes a run from the history. `discard` receives its folder and throws if it cannot
    /// dispose of it; the run then stays. Throws Error(value) for an unknown run, and Error(state)
    /// for one that a process is training.
    using Discard = std::function<void(const std::filesystem::path&)>;
    void remove(const std::string& run, const Discard& discard);
    /// Adds a run that another program writes, under the root or elsewhere, to the index if needed,
    /// and returns it. Throws Error(data) for a folder that holds no run, and Error(io).
    RunSummary enter(const std::filesystem::path& folder);
    /// For a run that was read from its folder alone and that, by its files, another machine
    /// trains: sets its state by what this store has seen of that machine before.
    void look_at_holder(RunSummary& run) const;
    /// Drops the index and builds it again from the folders that it knows.
    void rebuild();
    /// Problems since the last call that were repaired, such as a damaged index that was rebuilt.
    std::vector<Message> take_warnings();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Writes the record of a run as CSV with a header line: step fields in the order of
/// for_each_field, metrics under their keys. Texts are written as csv_cell() does. Throws Error(io)
/// or Error(data).
void export_csv(const std::filesystem::path& run_folder, const std::filesystem::path& file,
                bool raw = false);

/// A run in a CSV file that holds several.
struct CsvRun {
    std::string name;  ///< for its cells in the column `run`
    std::filesystem::path folder;
};
/// Writes the records of several runs one after another under one header line. The first column,
/// `run`, holds the run's name. Throws Error(io) or Error(data); nothing is written then.
void export_csv(const std::vector<CsvRun>& runs, const std::filesystem::path& file,
                bool raw = false);

/// A drawing of a model after so many steps, a PNG file in the run's folder: `samples/STEP.png`.
/// Runs whose model draws images keep one of each evaluation. An adversarial pair draws from the
/// same random numbers each time; an autoencoder the first test images, each below its original.
struct SamplePicture {
    std::int64_t step = 0;
    std::filesystem::path file;
};

/// Lists the pictures of a run, oldest first.
std::vector<SamplePicture> list_sample_pictures(const std::filesystem::path& run_folder);

}  // namespace engine
