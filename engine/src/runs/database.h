#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

struct sqlite3;
struct sqlite3_stmt;

namespace engine {

/// A file that is no database, or one whose pages, tables or values are not what they should be.
struct DamagedDatabase {};

/// Another process holds a lock on the file.
struct BusyDatabase {};

class Database;

/// A prepared statement; parameters are bound in order, from 1.
class Statement {
public:
    Statement(Database& database, const char* sql);
    ~Statement();
    Statement(const Statement&) = delete;
    Statement& operator=(const Statement&) = delete;

    template <typename... Args>
    Statement& bind(const Args&... args) {
        int index = 0;
        (bind_one(++index, args), ...);
        return *this;
    }
    /// True if there is a row to read.
    bool step();
    /// Runs to the end.
    void run();

    /// Values of a row; each throws DamagedDatabase for a value of another type. text() is empty
    /// and real() NaN where the table holds nothing.
    std::string text(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;

private:
    void bind_one(int index, const std::string& value);
    void bind_one(int index, std::int64_t value);
    void bind_one(int index, double value);
    void check(int result) const;

    Database& database_;
    sqlite3_stmt* statement_ = nullptr;
};

/// An SQLite file that several processes share (WAL). Waits a few milliseconds for a lock, since
/// the compute thread must not wait. Throws Error(io), DamagedDatabase and BusyDatabase.
class Database {
public:
    explicit Database(const std::filesystem::path& path);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void run(const char* sql);
    std::int64_t integer(const char* sql);
    /// Reads every page; throws DamagedDatabase if they do not fit together.
    void check();
    [[noreturn]] void fail(int result) const;
    sqlite3* handle() const { return handle_; }

private:
    [[noreturn]] void fail_io() const;

    std::filesystem::path path_;
    sqlite3* handle_ = nullptr;
};

/// Undoes what was done unless committed.
class Transaction {
public:
    explicit Transaction(Database& database) : database_(database) {
        database_.run("BEGIN IMMEDIATE");
    }
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;
    void commit();

private:
    Database& database_;
    bool committed_ = false;
};

}  // namespace engine
