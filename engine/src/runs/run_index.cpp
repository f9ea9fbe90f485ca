#include "runs/run_index.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "record/event_json.h"
#include "runs/index_tables.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

/// With what belongs to a run, before the table of the runs themselves.
constexpr const char* tables_of_a_run[] = {"run_groups", "stars",       "origins", "parents",
                                           "metrics",    "divergences", "titles",  "tags",
                                           "notes",      "epochs",      "events",  "settings"};

}  // namespace

RunIndex::RunIndex(const fs::path& path) : database_(path) {
    database_.check();
    check_schema(database_, path);
}

void RunIndex::write(RunSummary& run, const Moment& made,
                     const std::vector<NumberedEvent>& events) {
    Transaction transaction(database_);
    take_id(run);
    put(run, made, events);
    transaction.commit();
}

std::int64_t RunIndex::replace(RunSummary& run, const Moment& made, std::int64_t step) {
    Transaction transaction(database_);
    take_id(run);
    drop_events(run.run);
    put_row(run, made);
    const std::int64_t events = add_events(run.run, run.folder, step);
    update(run);
    transaction.commit();
    return events;
}

LeaseSighting RunIndex::sighting(const fs::path& folder) {
    Statement row(database_, "SELECT content, boot, since FROM sightings WHERE folder = ?");
    if (!row.bind(folder.string()).step()) return {};
    return {row.text(0), row.text(1), row.real(2)};
}

void RunIndex::see(const fs::path& folder, const LeaseSighting& seen) {
    if (seen == sighting(folder)) return;
    try {
        if (seen.content.empty()) {
            Statement(database_, "DELETE FROM sightings WHERE folder = ?")
                .bind(folder.string())
                .run();
        } else {
            Statement(database_, "INSERT OR REPLACE INTO sightings VALUES (?, ?, ?, ?)")
                .bind(folder.string(), seen.content, seen.boot, seen.since)
                .run();
        }
    } catch (const BusyDatabase&) {
        // The next look sees it, too, and begins to wait a little later.
    }
}

LeaseState RunIndex::holder(const fs::path& folder) {
    LeaseSighting seen = sighting(folder);
    const LeaseState holder = holder_of(folder, seen);
    see(folder, seen);
    return holder;
}

RunSummary RunIndex::settle(const RunSummary& run, bool held) {
    RunSummary now = run;
    StoredRun stored;
    const bool readable = has_settings(run.folder);
    if (readable) {
        stored = read_stored_run_as(held, run.folder, keep_no_event);
        now = stored.summary;
        now.run = run.run;
    } else {
        now.state = interrupted_state;
    }
    try {
        Transaction transaction(database_);
        auto found = find(run.run);
        if (!found || found->state != run.state) return found.value_or(now);
        drop_events(run.run);
        put_row(now, stored.made);
        if (readable) add_events(run.run, run.folder);
        update(now);
        transaction.commit();
    } catch (const BusyDatabase&) {
        // Another process settles it, or this one the next time.
    }
    return now;
}

void RunIndex::put(const RunSummary& run, const Moment& made,
                   const std::vector<NumberedEvent>& events) {
    put_row(run, made);
    for (const auto& event : events) add_event(run.run, event);
    update(run);
}

/// Without an `until` all of them, an end too.
std::int64_t RunIndex::add_events(const std::string& run, const fs::path& folder,
                                  std::int64_t until) {
    const bool all = until == std::numeric_limits<std::int64_t>::max();
    std::int64_t number = 0;
    EventFile(folder).for_each([&](Event&& event) {
        if (all || !is_taken_back(event, until)) add_event(run, {++number, std::move(event)});
    });
    return number;
}

void RunIndex::put_row(const RunSummary& run, const Moment& made) {
    Statement(database_,
              "INSERT OR IGNORE INTO runs (id, made, folder, started, state, steps, skipped, "
              "peak_bytes) VALUES (?, ?, ?, ?, ?, 0, 0, 0)")
        .bind(run.run, made.microseconds, run.folder.string(), run.started, run.state)
        .run();
}

void RunIndex::update(const RunSummary& run) {
    Statement(database_,
              "UPDATE runs SET folder = ?, state = ?, steps = ?, skipped = ?, test_loss = ?, "
              "test_accuracy = ?, wall_s = ?, samples_per_s = ?, peak_bytes = ? WHERE id = ?")
        .bind(run.folder.string(), run.state, run.steps, run.skipped, run.test.loss,
              run.test.of("accuracy"), run.wall_s, run.samples_per_s, run.peak_bytes, run.run)
        .run();
    // Settings do not change while a run trains; writing them with each event would be most of the
    // index's writes.
    Statement(database_,
              "INSERT INTO settings VALUES (?, ?) ON CONFLICT(run) DO UPDATE SET json = "
              "excluded.json WHERE json <> excluded.json")
        .bind(run.run, to_json(run.config))
        .run();
    // Metrics of classification are in the columns above.
    if (run.metrics != classification_metrics()) {
        Statement(database_, "INSERT OR REPLACE INTO metrics VALUES (?, ?)")
            .bind(run.run, metrics_of(run))
            .run();
    }
    if (!run.parent.empty()) {
        Statement(database_, "INSERT OR REPLACE INTO parents VALUES (?, ?)")
            .bind(run.run, run.parent)
            .run();
    }
    if (!run.group.empty()) {
        Statement(database_, "INSERT OR REPLACE INTO run_groups VALUES (?, ?)")
            .bind(run.run, run.group)
            .run();
        if (run.group_number > 0) take_group_number(database_, run.group, run.group_number);
    }
    if (run.origin) {
        Statement(database_, "INSERT OR REPLACE INTO origins VALUES (?, ?)")
            .bind(run.run, dumped(ordered_json(*run.origin)))
            .run();
    }
    if (run.diverged_at == 0) return;
    Statement(database_, "INSERT OR REPLACE INTO divergences VALUES (?, ?)")
        .bind(run.run, run.diverged_at)
        .run();
}

std::int64_t RunIndex::number_of_group(const std::string& group) {
    return engine::number_of_group(database_, group);
}

/// A run that was resumed has fewer events than the index knows.
void RunIndex::drop_events(const std::string& run) {
    Statement(database_, "DELETE FROM events WHERE run = ?").bind(run).run();
    Statement(database_, "DELETE FROM epochs WHERE run = ?").bind(run).run();
    Statement(database_, "DELETE FROM divergences WHERE run = ?").bind(run).run();
}

void RunIndex::add_event(const std::string& run, const NumberedEvent& event) {
    Statement(database_, "INSERT OR REPLACE INTO events VALUES (?, ?, ?)")
        .bind(run, event.number, to_json_line(event.event))
        .run();
    const auto* epoch = std::get_if<EpochDone>(&event.event);
    // Evaluations within the next epoch have the number of the one before.
    if (epoch == nullptr || !epoch->epoch_ended) return;
    Statement(database_, "INSERT OR REPLACE INTO epochs VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(run, epoch->epoch, epoch->step, epoch->train.loss, epoch->train.of("accuracy"),
              epoch->test.loss, epoch->test.of("accuracy"), epoch->seconds)
        .run();
}

/// Notes take a row only if there are any.
void RunIndex::set_notes(const std::string& run, const RunNotes& notes) {
    const auto set = [&](const std::string& table, const std::string& text) {
        const std::string sql = "INSERT OR REPLACE INTO " + table + " VALUES (?, ?)";
        const std::string none = "DELETE FROM " + table + " WHERE run = ?";
        if (text.empty()) {
            Statement(database_, none.c_str()).bind(run).run();
        } else {
            Statement(database_, sql.c_str()).bind(run, text).run();
        }
    };
    set("notes", notes.notes);
    set("tags", notes.tags);
    set("titles", notes.title);
    Statement(database_, notes.starred ? "INSERT OR REPLACE INTO stars VALUES (?)"
                                       : "DELETE FROM stars WHERE run = ?")
        .bind(run)
        .run();
}

void RunIndex::remove(const std::string& run) {
    Transaction transaction(database_);
    forget(run);
    transaction.commit();
}

std::vector<RunSummary> RunIndex::list() {
    std::vector<RunSummary> runs = rows();
    return assign_group_numbers(database_, runs) ? rows() : runs;
}

std::vector<RunSummary> RunIndex::rows() {
    static const std::string sql = std::string(select_runs) + "ORDER BY made DESC, runs.rowid DESC";
    Statement statement(database_, sql.c_str());
    std::vector<RunSummary> runs;
    while (statement.step()) runs.push_back(read_summary(statement));
    return runs;
}

std::optional<RunSummary> RunIndex::find(const std::string& run) {
    static const std::string sql = std::string(select_runs) + "WHERE runs.id = ?";
    Statement statement(database_, sql.c_str());
    if (!statement.bind(run).step()) return std::nullopt;
    RunSummary found = read_summary(statement);
    if (!found.group.empty() && found.group_number == 0 && assign_group_numbers(database_, {found}))
        found.group_number = engine::number_of_group(database_, found.group);
    return found;
}

std::vector<Event> RunIndex::events(const std::string& run, const EventFilter& keep) {
    Statement statement(database_, "SELECT json FROM events WHERE run = ? ORDER BY number");
    statement.bind(run);
    std::vector<Event> events;
    while (statement.step()) {
        auto event = parse_event(statement.text(0));
        if (event && keep(*event)) events.push_back(std::move(*event));
    }
    return events;
}

std::set<std::string> RunIndex::folders() {
    Statement statement(database_, "SELECT folder FROM runs");
    std::set<std::string> folders;
    while (statement.step()) folders.insert(statement.text(0));
    return folders;
}

std::vector<fs::path> RunIndex::unended_folders() {
    Statement statement(database_,
                        "SELECT folder FROM runs WHERE state IN ('running', 'interrupted')");
    std::vector<fs::path> folders;
    while (statement.step()) folders.emplace_back(statement.text(0));
    return folders;
}

std::optional<fs::path> RunIndex::folder_of(const std::string& run) {
    Statement statement(database_, "SELECT folder FROM runs WHERE id = ?");
    if (!statement.bind(run).step()) return std::nullopt;
    return statement.text(0);
}

std::optional<std::string> RunIndex::run_in(const fs::path& folder) {
    Statement statement(database_, "SELECT id FROM runs WHERE folder = ?");
    if (!statement.bind(folder.string()).step()) return std::nullopt;
    return statement.text(0);
}

void RunIndex::adopt(const std::vector<fs::path>& folders) {
    Transaction transaction(database_);
    for (const auto& folder : folders) enter_folder(folder);
    transaction.commit();
}

RunSummary RunIndex::enter(const fs::path& folder) {
    auto run = run_in(folder);
    if (!run) {
        Transaction transaction(database_);
        run = enter_folder(folder);
        transaction.commit();
    }
    auto found = find(*run);
    if (!found) throw DamagedDatabase{};
    return std::move(*found);
}

void RunIndex::rebuild(const std::vector<fs::path>& folders) {
    Transaction transaction(database_);
    for (const char* table : tables_of_a_run)
        database_.run((std::string("DELETE FROM ") + table).c_str());
    database_.run("DELETE FROM runs");
    for (const auto& folder : folders) enter_folder(folder);
    transaction.commit();
}

std::string RunIndex::enter_folder(const fs::path& folder) {
    StoredRun stored = read_stored_run_as(holder(folder).held, folder, keep_no_event);
    RunSummary& run = stored.summary;
    take_id(run);
    put_row(run, stored.made);
    add_events(run.run, folder);
    update(run);
    set_notes(run.run, {run.notes, run.tags, run.title, run.starred});
    return run.run;
}

/// Keeps the run's own id, or its folder's name if that is lost, unless a run in another folder has
/// it. A row of that id is replaced if its folder is gone, or is this folder under another path.
void RunIndex::take_id(RunSummary& run) {
    const auto is_free = [&](const std::string& id) {
        const auto holder = folder_of(id);
        std::error_code ignored;
        return !holder || *holder == run.folder || !has_settings(*holder) ||
               fs::equivalent(*holder, run.folder, ignored);
    };
    const std::string name = run.folder.filename().string();
    if (run.run.empty()) run.run = name;
    for (int n = 1; !is_free(run.run); ++n) {
        run.run = n == 1 ? name : name + "-" + std::to_string(n);
    }
    const auto holder = folder_of(run.run);
    if (holder && *holder != run.folder) forget(run.run);
}

std::string RunIndex::new_id(const fs::path& folder, bool name_is_taken) {
    const std::string name = folder.filename().string();
    std::string id = name;
    for (int n = 2; name_is_taken || has(id); ++n) {
        // A run that was in this folder is gone: two runs never share one.
        if (folder_of(id) == folder) {
            forget(id);
            break;
        }
        id = name + "-" + std::to_string(n);
        name_is_taken = false;
    }
    return id;
}

void RunIndex::forget(const std::string& run) {
    for (const char* table : tables_of_a_run) {
        Statement(database_, (std::string("DELETE FROM ") + table + " WHERE run = ?").c_str())
            .bind(run)
            .run();
    }
    Statement(database_, "DELETE FROM runs WHERE id = ?").bind(run).run();
}

}  // namespace engine
