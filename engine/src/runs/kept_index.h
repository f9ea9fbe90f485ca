#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "runs/run_index.h"

namespace engine {

/// The index below a root, kept usable: opened when no other program holds it, opened again when
/// another process replaced it, and built anew from the run folders when it is damaged; the damaged
/// file is kept beside it. Not thread-safe.
class KeptIndex {
public:
    /// Opens nothing yet.
    explicit KeptIndex(std::filesystem::path root) : root_(std::move(root)) {}

    /// Calls f(RunIndex&), and once more after damage was mended. Throws BusyDatabase, and
    /// Error(io) where the index cannot be used or built anew.
    template <typename F>
    auto use(F&& f) {
        try {
            return f(opened());
        } catch (const DamagedDatabase&) {
            mend();
        }
        try {
            return f(*index_);
        } catch (const DamagedDatabase&) {
            throw_damaged();
        }
    }

    /// Calls f(lock of the root) while no other process makes a run or builds the index anew.
    template <typename F>
    auto exclusively(F&& f) {
        if (lock_) return f(*lock_);
        lock_ = FileLock::take(root_ / lock_name);
        const Unlock unlock{lock_};
        return f(*lock_);
    }

    /// Drops the index and builds it again from the folders, those under the root and those
    /// elsewhere that it knows. Throws as use() does.
    void rebuild();
    std::filesystem::path path() const { return root_ / "runs.db"; }
    std::vector<Message> take_warnings() { return std::exchange(warnings_, {}); }

private:
    static constexpr char lock_name[] = "index.lock";
    struct Unlock {
        std::optional<FileLock>& lock;
        ~Unlock() { lock.reset(); }
    };

    RunIndex& opened();
    void open();
    void adopt();
    void sweep();
    bool is_alone() const;
    void mend();
    void build_anew();
    void take_file();
    bool is_replaced() const;
    [[noreturn]] void throw_damaged() const;

    std::filesystem::path root_;
    std::unique_ptr<RunIndex> index_;
    struct stat file_ {};  ///< of the index that is open
    std::optional<FileLock> lock_;
    std::vector<Message> warnings_;
};

}  // namespace engine
