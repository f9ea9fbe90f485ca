#include "store/run_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "file/json_reader.h"
#include "store/event_json.h"
#include "store/json_number.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

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

/// Tables that were added later. An index of an earlier version gets them; that version can still
/// use the index and ignores them.
constexpr char additions[] = R"(
CREATE TABLE IF NOT EXISTS titles (run TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS divergences (run TEXT PRIMARY KEY, step INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS parents (run TEXT PRIMARY KEY, parent TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS metrics (run TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS origins (run TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS stars (run TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS run_groups (run TEXT PRIMARY KEY, id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS group_numbers (id TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sightings (
    folder TEXT PRIMARY KEY, content TEXT NOT NULL, boot TEXT NOT NULL, since REAL NOT NULL);
)";
/// Groups that have no number, such as those of an earlier version, get one: the oldest first. A
/// number stays taken when its runs are deleted.
constexpr char number_groups[] =
    "INSERT OR IGNORE INTO group_numbers SELECT id, "
    "(SELECT COALESCE(MAX(number), 0) FROM group_numbers) + ROW_NUMBER() OVER (ORDER BY made, id) "
    "FROM (SELECT run_groups.id AS id, MIN(runs.made) AS made FROM run_groups "
    "JOIN runs ON runs.id = run_groups.run "
    "WHERE run_groups.id NOT IN (SELECT id FROM group_numbers) GROUP BY run_groups.id)";

/// With what belongs to a run, before the table of the runs themselves.
constexpr const char* tables_of_a_run[] = {"run_groups", "stars",       "origins", "parents",
                                           "metrics",    "divergences", "titles",  "tags",
                                           "notes",      "epochs",      "events",  "settings"};

/// Tables and indexes with the statements that made them.
std::set<std::string> schema_of(Database& database) {
    Statement rows(database,
                   "SELECT type || ' ' || name || ' ' || COALESCE(sql, '') FROM sqlite_schema "
                   "WHERE name NOT LIKE 'sqlite_stat%'");
    std::set<std::string> out;
    while (rows.step()) out.insert(rows.text(0));
    return out;
}

std::set<std::string> expected_schema() {
    Database database(":memory:");
    database.run(schema);
    database.run(additions);
    return schema_of(database);
}

constexpr char select_runs[] =
    "SELECT runs.id, folder, started, state, steps, skipped, test_loss, test_accuracy, wall_s, "
    "samples_per_s, peak_bytes, settings.json, notes.text, tags.text, titles.text, "
    "COALESCE(divergences.step, 0), metrics.json, parents.parent, origins.json, "
    "stars.run IS NOT NULL, run_groups.id, COALESCE(group_numbers.number, 0) FROM runs "
    "LEFT JOIN settings ON settings.run = runs.id LEFT JOIN notes ON notes.run = runs.id "
    "LEFT JOIN tags ON tags.run = runs.id LEFT JOIN titles ON titles.run = runs.id "
    "LEFT JOIN divergences ON divergences.run = runs.id LEFT JOIN metrics ON metrics.run = runs.id "
    "LEFT JOIN parents ON parents.run = runs.id LEFT JOIN origins ON origins.run = runs.id "
    "LEFT JOIN stars ON stars.run = runs.id LEFT JOIN run_groups ON run_groups.run = runs.id "
    "LEFT JOIN group_numbers ON group_numbers.id = run_groups.id ";

/// The metrics of a run and their values on the test part, as JSON.
std::string metrics_of(const RunSummary& run) {
    ordered_json object = {{"unit", run.unit}, {"metrics", metrics_json(run.metrics)}};
    for (const MetricValue& metric : run.test.metrics)
        object["test"][metric.key] = json_number(metric.value);
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

void parse_metrics_of(RunSummary& run, const std::string& text) {
    try {
        const json object = read_json(text);
        run.unit = object.at("unit").get<std::string>();
        run.metrics = parse_metrics(object.at("metrics"));
        run.test.metrics.clear();
        if (!object.contains("test")) return;
        for (const auto& [key, value] : object.at("test").get_ref<const json::object_t&>())
            run.test.metrics.push_back({key, number_of(value)});
    } catch (const json::exception&) {
        throw DamagedDatabase{};
    }
}

RunOrigin parse_origin_of(const std::string& text) {
    try {
        return parse_origin(read_json(text));
    } catch (const json::exception&) {
        throw DamagedDatabase{};
    }
}

RunSummary read_summary(const Statement& row) {
    RunSummary run;
    run.run = row.text(0);
    run.folder = row.text(1);
    run.started = row.text(2);
    run.state = row.text(3);
    run.steps = row.integer(4);
    run.skipped = row.integer(5);
    run.test = {row.real(6), {{"accuracy", row.real(7)}}};
    run.wall_s = row.real(8);
    run.samples_per_s = row.real(9);
    run.peak_bytes = row.integer(10);
    const std::string settings = row.text(11);
    if (run.run.empty() || run.state.empty() || settings.empty()) throw DamagedDatabase{};
    run.config = parse_run_config(settings).config;
    run.notes = row.text(12);
    run.tags = row.text(13);
    run.title = row.text(14);
    run.diverged_at = row.integer(15);
    run.parent = row.text(17);
    // A run of an earlier version has the metrics of classification and no row of them.
    if (const std::string metrics = row.text(16); !metrics.empty()) parse_metrics_of(run, metrics);
    if (const std::string origin = row.text(18); !origin.empty())
        run.origin = parse_origin_of(origin);
    run.starred = row.integer(19) != 0;
    run.group = row.text(20);
    run.group_number = row.integer(21);
    return run;
}

std::vector<NumberedEvent> numbered(const std::vector<Event>& events) {
    std::vector<NumberedEvent> out;
    for (const auto& event : events) out.push_back({std::ssize(out) + 1, event});
    return out;
}

}  // namespace

RunIndex::RunIndex(const fs::path& path) : database_(path) {
    database_.check();
    check_schema(path);
}

/// A later version of this program also has other tables. If the tables are those of this version,
/// the version number itself is damaged.
void RunIndex::check_schema(const fs::path& path) {
    std::set<std::string> found = schema_of(database_);
    const std::set<std::string> expected = expected_schema();
    const std::int64_t version = database_.integer("PRAGMA user_version");
    if (version == 0 && found.empty()) {
        Transaction transaction(database_);
        database_.run(schema);
        database_.run(additions);
        return transaction.commit();
    }
    if (version > schema_version && found != expected) {
        throw Error(ErrorCode::io,
                    msg("{}: the run history is of a later version of this program", path.string()),
                    msg("Use that version, or keep the runs in another folder."));
    }
    const auto whole = [&] {
        return std::includes(found.begin(), found.end(), expected.begin(), expected.end());
    };
    if (version == schema_version && !whole()) {
        database_.run(additions);
        found = schema_of(database_);
    }
    if (version != schema_version || !whole()) throw DamagedDatabase{};
}

void RunIndex::write(RunSummary& run, const Moment& made,
                     const std::vector<NumberedEvent>& events) {
    Transaction transaction(database_);
    take_id(run);
    put(run, made, events);
    transaction.commit();
}

void RunIndex::replace(RunSummary& run, const Moment& made, const std::vector<Event>& events) {
    Transaction transaction(database_);
    take_id(run);
    drop_events(run.run);
    put(run, made, numbered(events));
    transaction.commit();
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
        if (readable) add_events_of(run.run, run.folder);
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

void RunIndex::add_events_of(const std::string& run, const fs::path& folder) {
    std::int64_t number = 0;
    EventFile(folder).for_each([&](Event&& event) {
        add_event(run, {++number, std::move(event)});
    });
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
    // Those of classification are in the columns above.
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
        if (run.group_number > 0) take_group_number(run.group, run.group_number);
    }
    if (run.origin) {
        Statement(database_, "INSERT OR REPLACE INTO origins VALUES (?, ?)")
            .bind(run.run, origin_json(*run.origin)
                               .dump(-1, ' ', false, ordered_json::error_handler_t::replace))
            .run();
    }
    if (run.diverged_at == 0) return;
    Statement(database_, "INSERT OR REPLACE INTO divergences VALUES (?, ?)")
        .bind(run.run, run.diverged_at)
        .run();
}

/// As the run's folder has it, for a history that is read anew; one that another group has is not
/// taken.
void RunIndex::take_group_number(const std::string& group, std::int64_t number) {
    Statement(database_, "INSERT OR IGNORE INTO group_numbers VALUES (?, ?)")
        .bind(group, number)
        .run();
}

std::int64_t RunIndex::number_of_group(const std::string& group) {
    Statement(database_,
              "INSERT OR IGNORE INTO group_numbers SELECT ?, COALESCE(MAX(number), 0) + 1 "
              "FROM group_numbers")
        .bind(group)
        .run();
    Statement row(database_, "SELECT number FROM group_numbers WHERE id = ?");
    return row.bind(group).step() ? row.integer(0) : 0;
}

/// True if there were any without a number and they have one now.
bool RunIndex::number_groups_of(const std::vector<RunSummary>& runs) {
    const auto lacks = [](const RunSummary& run) {
        return !run.group.empty() && run.group_number == 0;
    };
    if (std::ranges::none_of(runs, lacks)) return false;
    try {
        Statement(database_, number_groups).run();
    } catch (const BusyDatabase&) {
        return false;  // the next look numbers them
    }
    return true;
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
    if (epoch == nullptr) return;
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
    return number_groups_of(runs) ? rows() : runs;
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
    if (!found.group.empty() && found.group_number == 0 && number_groups_of({found}))
        found.group_number = number_of_group(found.group);
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
    add_events_of(run.run, folder);
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
