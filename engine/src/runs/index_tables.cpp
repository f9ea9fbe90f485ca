#include "runs/index_tables.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "record/event_json.h"
#include "engine/base/json.h"

namespace engine {
namespace fs = std::filesystem;
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

void read_metrics(RunSummary& run, const std::string& text) {
    try {
        const json object = read_json(text);
        run.unit = object.at("unit").get<std::string>();
        object.at("metrics").get_to(run.metrics);
        run.test.metrics.clear();
        if (!object.contains("test")) return;
        for (const auto& [key, value] : object.at("test").get_ref<const json::object_t&>())
            run.test.metrics.push_back({key, number_of(value)});
    } catch (const json::exception&) {
        throw DamagedDatabase{};
    }
}

RunOrigin read_origin(const std::string& text) {
    try {
        return read_json(text).get<RunOrigin>();
    } catch (const json::exception&) {
        throw DamagedDatabase{};
    }
}

constexpr char number_groups[] =
    "INSERT OR IGNORE INTO group_numbers SELECT id, "
    "(SELECT COALESCE(MAX(number), 0) FROM group_numbers) + ROW_NUMBER() OVER (ORDER BY made, id) "
    "FROM (SELECT run_groups.id AS id, MIN(runs.made) AS made FROM run_groups "
    "JOIN runs ON runs.id = run_groups.run "
    "WHERE run_groups.id NOT IN (SELECT id FROM group_numbers) GROUP BY run_groups.id)";

}  // namespace

/// A later version of this program also has other tables. If the tables are those of this version,
/// the version number itself is damaged.
void check_schema(Database& database, const fs::path& path) {
    std::set<std::string> found = schema_of(database);
    const std::set<std::string> expected = expected_schema();
    const std::int64_t version = database.integer("PRAGMA user_version");
    if (version == 0 && found.empty()) {
        Transaction transaction(database);
        database.run(schema);
        database.run(additions);
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
        database.run(additions);
        found = schema_of(database);
    }
    if (version != schema_version || !whole()) throw DamagedDatabase{};
}

const char* const select_runs =
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

std::string metrics_of(const RunSummary& run) {
    ordered_json object = {{"unit", run.unit}, {"metrics", run.metrics}};
    for (const MetricValue& metric : run.test.metrics)
        object["test"][metric.key] = json_number(metric.value);
    return dumped(object);
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
    if (const std::string metrics = row.text(16); !metrics.empty()) read_metrics(run, metrics);
    if (const std::string origin = row.text(18); !origin.empty()) run.origin = read_origin(origin);
    run.starred = row.integer(19) != 0;
    run.group = row.text(20);
    run.group_number = row.integer(21);
    return run;
}

void take_group_number(Database& database, const std::string& group, std::int64_t number) {
    Statement(database, "INSERT OR IGNORE INTO group_numbers VALUES (?, ?)")
        .bind(group, number)
        .run();
}

std::int64_t number_of_group(Database& database, const std::string& group) {
    Statement(database,
              "INSERT OR IGNORE INTO group_numbers SELECT ?, COALESCE(MAX(number), 0) + 1 "
              "FROM group_numbers")
        .bind(group)
        .run();
    Statement row(database, "SELECT number FROM group_numbers WHERE id = ?");
    return row.bind(group).step() ? row.integer(0) : 0;
}

bool assign_group_numbers(Database& database, const std::vector<RunSummary>& runs) {
    const auto lacks = [](const RunSummary& run) {
        return !run.group.empty() && run.group_number == 0;
    };
    if (std::ranges::none_of(runs, lacks)) return false;
    try {
        Statement(database, number_groups).run();
    } catch (const BusyDatabase&) {
        return false;  // the next look numbers them
    }
    return true;
}

}  // namespace engine
