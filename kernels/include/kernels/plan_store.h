#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace kernels {

/// The fastest algorithm for each operation, as measured on this machine, kept in a file for later
/// runs. Any number of threads and processes may use one file.
///
/// The file is text: its format's version, then a line an entry: a checksum of the rest, the key,
/// the algorithm's name and its milliseconds, with tabs between. A damaged file counts as empty and
/// is replaced by the next write. Entries are validated by their readers: a name that the library
/// does not offer is ignored.
class PlanStore {
public:
    /// Without a file it keeps entries for the process.
    explicit PlanStore(std::filesystem::path file) : file_(std::move(file)) {}

    std::optional<std::string> find(const std::string& key);
    /// Keeps `name`, unless another process has kept one since: it gives the one that holds, so
    /// that runs that start together agree. One that is named `outdated` does not hold. A file that
    /// cannot be written is no error.
    std::string keep(const std::string& key, const std::string& name, double ms,
                     const std::optional<std::string>& outdated = std::nullopt);

    /// Whether entries reach later processes: there is a file, and its lock can be taken.
    bool lasts();
    std::size_t size();
    const std::filesystem::path& file() const { return file_; }

private:
    struct Entry {
        std::string name, ms;
    };
    using Entries = std::map<std::string, Entry>;

    void read_once();
    /// False: another entry holds.
    bool add(const std::string& key, const Entry& own, const std::optional<std::string>& outdated);
    Entries read() const;
    void write() const;

    const std::filesystem::path file_;
    std::mutex mutex_;
    bool is_read_ = false;
    Entries entries_;
};

/// $XDG_CACHE_HOME/halftone/measured-plans, else ~/.cache/halftone/measured-plans; empty without
/// either variable.
std::filesystem::path default_plan_file();

/// The process's: in the default file, unless another one is set. Null sets the default again.
PlanStore& plan_store();
void set_plan_store(PlanStore* store) noexcept;

}  // namespace kernels
