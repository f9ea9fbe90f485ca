#include "store/run_index.h"

#include <limits>

#include "engine/error.h"
#include "store/event_json.h"

namespace engine {
namespace {

constexpr std::int64_t schema_version = 1;

constexpr char schema[] = R"(
CREATE TABLE runs (
    id TEXT PRIMARY KEY, made INTEGER NOT NULL, folder TEXT NOT NULL, started TEXT NOT NULL,
    state TEXT NOT NULL, steps INTEGER NOT NULL, skipped INTEGER NOT NULL, test_loss REAL,
    test_accuracy REAL, wall_s REAL, samples_per_s REAL, peak_bytes INTEGER NOT NULL);
CREATE TABLE settings (run TEXT PRIMARY KEY REFERENCES runs(id), json TEXT NOT NULL);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs(id), number INTEGER NOT NULL, json TEXT NOT NULL,
    PRIMARY KEY (run, number)) WITHOUT ROWID;
CREATE TABLE epochs (
    run TEXT NOT NULL REFERENCES runs(id), epoch INTEGER NOT NULL, step INTEGER NOT NULL,
    train_loss REAL, train_accuracy REAL, test_loss REAL, test_accuracy REAL, seconds REAL,
    PRIMARY KEY (run, epoch)) WITHOUT ROWID;
CREATE TABLE notes (run TEXT PRIMARY KEY REFERENCES runs(id), text TEXT NOT NULL);
CREATE TABLE tags (run TEXT PRIMARY KEY REFERENCES runs(id), text TEXT NOT NULL);
PRAGMA user_version = 1;
)";

constexpr char select_runs[] =
    "SELECT id, folder, started, state, steps, skipped, test_loss, test_accuracy, wall_s, "
    "samples_per_s, peak_bytes, settings.json, notes.text, tags.text FROM runs "
    "LEFT JOIN settings ON settings.run = id LEFT JOIN notes ON notes.run = id "
    "LEFT JOIN tags ON tags.run = id ";

RunSummary read_summary(const Statement& row) {
    RunSummary run;
    run.run = row.text(0);
    run.folder = row.text(1);
    run.started = row.text(2);
    run.state = row.text(3);
    run.steps = row.integer(4);
    run.skipped = row.integer(5);
    run.test_loss = row.real(6);
    run.test_accuracy = row.real(7);
    run.wall_s = row.real(8);
    run.samples_per_s = row.real(9);
    run.peak_bytes = row.integer(10);
    run.config = parse_run_config(row.text(11)).config;
    run.notes = row.text(12);
    run.tags = row.text(13);
    return run;
}

void apply_to(RunSummary& run, const RunStarted& event) { run.config = event.config; }
void apply_to(RunSummary&, const StateChanged&) {}
void apply_to(RunSummary&, const RunWarning&) {}
void apply_to(RunSummary& run, const RunFailed&) { run.state = "failed"; }
void apply_to(RunSummary& run, const EpochDone& event) {
    run.steps = event.step;
    run.test_loss = event.test_loss;
    run.test_accuracy = event.test_accuracy;
}
void apply_to(RunSummary& run, const ScaleChanged& event) {
    run.steps = event.step;
    if (event.kind != ScaleChanged::Kind::grown) ++run.skipped;
}
void apply_to(RunSummary& run, const RunDone& event) {
    switch (event.reason) {
        case DoneReason::epochs:
        case DoneReason::max_steps:
            run.state = "done";
            break;
        case DoneReason::stopped:
            run.state = "stopped";
            break;
        case DoneReason::diverged:
            run.state = "diverged";
            break;
        case DoneReason::failed:
            run.state = "failed";
            break;
    }
    run.steps = event.steps;
    run.skipped = event.skipped;
    run.test_loss = event.test_loss;
    run.test_accuracy = event.test_accuracy;
    run.wall_s = event.wall_s;
    run.samples_per_s = event.samples_per_s;
    run.peak_bytes = event.peak_bytes;
}

}  // namespace

void apply(RunSummary& summary, const Event& event) {
    std::visit([&summary](const auto& e) { apply_to(summary, e); }, event);
}

RunIndex::RunIndex(const std::filesystem::path& path) : database_(path) {
    database_.check();
    const std::int64_t version = database_.integer("PRAGMA user_version");
    if (version > schema_version) {
        throw Error(ErrorCode::io,
                    msg("{}: the run history is of a later version of this program", path.string()),
                    msg("Use that version, or keep the runs in another folder."));
    }
    if (version == 0) make_tables();
}

void RunIndex::make_tables() {
    Transaction transaction(database_);
    // Another process may have made them while this one waited.
    if (database_.integer("PRAGMA user_version") == 0) database_.run(schema);
    transaction.commit();
}

void RunIndex::insert(const RunSummary& run, const Moment& made) {
    Transaction transaction(database_);
    add_run(run, made);
    transaction.commit();
}

void RunIndex::add_run(const RunSummary& run, const Moment& made) {
    Statement(database_,
              "INSERT INTO runs (id, made, folder, started, state, steps, skipped, peak_bytes) "
              "VALUES (?, ?, ?, ?, ?, 0, 0, 0)")
        .bind(run.run, made.microseconds, run.folder.string(), run.started, run.state)
        .run();
    Statement(database_, "INSERT INTO settings VALUES (?, ?)")
        .bind(run.run, to_json(run.config))
        .run();
}

void RunIndex::update(const RunSummary& run) {
    Statement(
        database_,
        "UPDATE runs SET state = ?, steps = ?, skipped = ?, test_loss = ?, test_accuracy = ?, "
        "wall_s = ?, samples_per_s = ?, peak_bytes = ? WHERE id = ?")
        .bind(run.state, run.steps, run.skipped, run.test_loss, run.test_accuracy, run.wall_s,
              run.samples_per_s, run.peak_bytes, run.run)
        .run();
    Statement(database_, "UPDATE settings SET json = ? WHERE run = ?")
        .bind(to_json(run.config), run.run)
        .run();
}

void RunIndex::append(const RunSummary& after, const Event& event) {
    Transaction transaction(database_);
    add_event(after.run, event);
    update(after);
    transaction.commit();
}

void RunIndex::add_event(const std::string& run, const Event& event) {
    Statement(
        database_,
        "INSERT INTO events SELECT ?, 1 + COALESCE(MAX(number), 0), ? FROM events WHERE run = ?")
        .bind(run, to_json_line(event), run)
        .run();
    const auto* epoch = std::get_if<EpochDone>(&event);
    if (epoch == nullptr) return;
    Statement(database_, "INSERT OR REPLACE INTO epochs VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        .bind(run, epoch->epoch, epoch->step, epoch->train_loss, epoch->train_accuracy,
              epoch->test_loss, epoch->test_accuracy, epoch->seconds)
        .run();
}

void RunIndex::set_notes(const std::string& run, const std::string& notes) {
    Statement(database_, "INSERT OR REPLACE INTO notes VALUES (?, ?)").bind(run, notes).run();
}

void RunIndex::set_tags(const std::string& run, const std::string& tags) {
    Statement(database_, "INSERT OR REPLACE INTO tags VALUES (?, ?)").bind(run, tags).run();
}

std::vector<RunSummary> RunIndex::list() {
    static const std::string sql = std::string(select_runs) + "ORDER BY made DESC, runs.rowid DESC";
    Statement statement(database_, sql.c_str());
    std::vector<RunSummary> runs;
    while (statement.step()) runs.push_back(read_summary(statement));
    return runs;
}

std::optional<RunSummary> RunIndex::find(const std::string& run) {
    static const std::string sql = std::string(select_runs) + "WHERE id = ?";
    Statement statement(database_, sql.c_str());
    if (!statement.bind(run).step()) return std::nullopt;
    return read_summary(statement);
}

bool RunIndex::has(const std::string& run) {
    Statement statement(database_, "SELECT 1 FROM runs WHERE id = ?");
    return statement.bind(run).step();
}

std::vector<Event> RunIndex::events(const std::string& run) {
    Statement statement(database_, "SELECT json FROM events WHERE run = ? ORDER BY number");
    statement.bind(run);
    std::vector<Event> events;
    while (statement.step()) {
        if (auto event = parse_event(statement.text(0))) events.push_back(std::move(*event));
    }
    return events;
}

void RunIndex::rebuild(const std::vector<std::filesystem::path>& folders) {
    Transaction transaction(database_);
    for (const char* table : {"tags", "notes", "epochs", "events", "settings", "runs"}) {
        database_.run((std::string("DELETE FROM ") + table).c_str());
    }
    for (const auto& folder : folders) enter_folder(folder);
    transaction.commit();
}

void RunIndex::enter_folder(const std::filesystem::path& folder) {
    RunSummary run;
    const StoredEvents stored = read_events(folder);
    run.run = stored.run.empty() || has(stored.run) ? free_id(folder) : stored.run;
    run.folder = folder;
    run.state = "running";  // unless its events say how it ended
    run.test_loss = run.test_accuracy = std::numeric_limits<double>::quiet_NaN();
    run.config = parse_run_config(read_text(folder / config_file)).config;
    run.started = stored.made.local;
    add_run(run, stored.made);
    for (const auto& event : stored.events) {
        apply(run, event);
        add_event(run.run, event);
    }
    update(run);
    const RunNotes notes = read_notes(folder);
    if (!notes.notes.empty()) set_notes(run.run, notes.notes);
    if (!notes.tags.empty()) set_tags(run.run, notes.tags);
}

std::string RunIndex::free_id(const std::filesystem::path& folder) {
    const std::string name = folder.filename().string();
    std::string id = name;
    for (int n = 2; has(id); ++n) id = name + "-" + std::to_string(n);
    return id;
}

}  // namespace engine
