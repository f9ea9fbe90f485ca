#include "store/database.h"

#include <sqlite3.h>

#include <cmath>
#include <limits>

#include "engine/error.h"

namespace engine {
namespace {

constexpr int busy_timeout_ms = 10'000;

}  // namespace

Database::Database(const std::filesystem::path& path) : path_(path) {
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX;
    const int result = sqlite3_open_v2(path.c_str(), &handle_, flags, nullptr);
    try {
        if (result != SQLITE_OK) fail(result);
        sqlite3_busy_timeout(handle_, busy_timeout_ms);
        run("PRAGMA journal_mode = WAL");
        run("PRAGMA synchronous = NORMAL");  // a power cut may lose the last rows, never the file
    } catch (...) {
        sqlite3_close(handle_);
        throw;
    }
}

Database::~Database() { sqlite3_close(handle_); }

void Database::fail(int result) const {
    const int kind = result & 0xff;
    if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB) throw DamagedDatabase{};
    if (kind == SQLITE_FULL) {
        throw Error(ErrorCode::io, msg("{}: the disk is full", path_.string()),
                    msg("Free some space, or give another folder."));
    }
    const char* reason = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(result);
    throw Error(ErrorCode::io,
                msg("{}: the run history cannot be read or written: {}", path_.string(), reason),
                msg("Give a folder that can be written."));
}

void Database::run(const char* sql) {
    const int result = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
    if (result != SQLITE_OK) fail(result);
}

std::int64_t Database::integer(const char* sql) {
    Statement statement(*this, sql);
    return statement.step() ? statement.integer(0) : 0;
}

void Database::check() {
    Statement statement(*this, "PRAGMA quick_check(1)");
    if (!statement.step() || statement.text(0) != "ok") throw DamagedDatabase{};
}

Statement::Statement(Database& database, const char* sql) : database_(database) {
    check(sqlite3_prepare_v2(database.handle(), sql, -1, &statement_, nullptr));
}

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::check(int result) const {
    if (result != SQLITE_OK) database_.fail(result);
}

bool Statement::step() {
    const int result = sqlite3_step(statement_);
    if (result == SQLITE_ROW) return true;
    if (result != SQLITE_DONE) database_.fail(result);
    return false;
}

void Statement::run() {
    while (step()) {
    }
}

void Statement::bind_one(int index, const std::string& value) {
    check(sqlite3_bind_text64(statement_, index, value.data(), value.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8));
}
void Statement::bind_one(int index, std::int64_t value) {
    check(sqlite3_bind_int64(statement_, index, value));
}
void Statement::bind_one(int index, double value) {
    // SQLite has no NaN: it becomes NULL, which real() gives back as NaN.
    check(sqlite3_bind_double(statement_, index, value));
}

std::string Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes == nullptr ? std::string() : std::string(bytes, size);
}
std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_, column);
}
double Statement::real(int column) const {
    if (sqlite3_column_type(statement_, column) == SQLITE_NULL) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return sqlite3_column_double(statement_, column);
}

Transaction::~Transaction() {
    if (!committed_) sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
    database_.run("COMMIT");
    committed_ = true;
}

}  // namespace engine
