#include "runs/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>

#include "engine/base/error.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"

namespace engine {
namespace {

constexpr int busy_timeout_ms = 3;

/// errno of the last failure of the database's file or of its log (SQLITE_FCNTL_FILE_POINTER,
/// SQLITE_FCNTL_JOURNAL_POINTER); 0: none.
int last_errno(sqlite3* database, int which) {
    sqlite3_file* file = nullptr;
    sqlite3_file_control(database, "main", which, &file);
    int error = 0;
    if (file != nullptr && file->pMethods != nullptr)
        file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
    return error;
}

/// Possible causes of an I/O error, likeliest first. If a write failed within a statement,
/// sqlite3_system_errno() is 0 or stale; the error numbers of the files are right.
std::array<int, 3> possible_causes(sqlite3* database) {
    return {last_errno(database, SQLITE_FCNTL_JOURNAL_POINTER),
            last_errno(database, SQLITE_FCNTL_FILE_POINTER), sqlite3_system_errno(database)};
}

bool means_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

bool is_read(int kind) { return kind == SQLITE_IOERR_READ || kind == SQLITE_IOERR_SHORT_READ; }

}  // namespace

Database::Database(const std::filesystem::path& path) : path_(path) {
    // SQLite would make it readable for everybody; what it puts beside it has the mode of this
    // file. A file that is there is not opened here: closing it would free SQLite's locks on it.
    if (path != ":memory:") (void)open_private(path, O_RDWR | O_EXCL);
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
    switch (result & 0xff) {
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:  // lost the race for a lock several times
            throw BusyDatabase{};
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
        case SQLITE_FORMAT:
        case SQLITE_SCHEMA:
        // Our statements are right, so a table or column is missing, or a row is there twice.
        case SQLITE_ERROR:
        case SQLITE_CONSTRAINT:
        case SQLITE_MISMATCH:
        case SQLITE_TOOBIG:
            throw DamagedDatabase{};
        case SQLITE_FULL:
            throw_write_error(path_, ENOSPC);
        case SQLITE_IOERR:
            fail_io();
        default:
            break;
    }
    const char* reason = handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(result);
    throw Error(ErrorCode::io,
                msg("{}: the run history cannot be read or written: {}", path_.string(), reason),
                msg("Give a folder that can be written."));
}

/// SQLite says "disk I/O error" of most of what a full disk refuses.
void Database::fail_io() const {
    const int kind = sqlite3_extended_errcode(handle_);
    if (kind == SQLITE_IOERR_CORRUPTFS || kind == SQLITE_IOERR_DATA) throw DamagedDatabase{};
    const auto causes = possible_causes(handle_);
    struct statvfs disk {};
    const bool full = std::ranges::any_of(causes, means_full) ||
                      (::statvfs(path_.parent_path().c_str(), &disk) == 0 && disk.f_bavail == 0);
    if (full && !is_read(kind)) throw_write_error(path_, ENOSPC);
    const auto cause = std::ranges::find_if(causes, [](int error) { return error != 0; });
    const std::string reason =
        cause == causes.end() ? sqlite3_errmsg(handle_) : std::generic_category().message(*cause);
    throw Error(ErrorCode::io,
                msg("{}: the disk failed while the run history was read or written: {}",
                    path_.string(), reason),
                msg("Check whether the disk works, or give a folder on another one."));
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
    const int type = sqlite3_column_type(statement_, column);
    if (type == SQLITE_NULL) return {};
    if (type != SQLITE_TEXT) throw DamagedDatabase{};
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
    return bytes == nullptr ? std::string() : std::string(bytes, size);
}
std::int64_t Statement::integer(int column) const {
    if (sqlite3_column_type(statement_, column) != SQLITE_INTEGER) throw DamagedDatabase{};
    return sqlite3_column_int64(statement_, column);
}
double Statement::real(int column) const {
    const int type = sqlite3_column_type(statement_, column);
    if (type == SQLITE_NULL) return std::numeric_limits<double>::quiet_NaN();
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) throw DamagedDatabase{};
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
