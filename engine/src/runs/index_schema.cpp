#include "runs/index_schema.h"

#include <algorithm>
#include <set>
#include <string>

#include "engine/base/error.h"

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

}  // namespace engine
