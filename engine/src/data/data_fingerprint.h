#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "data/byte_reader.h"

namespace engine {

/// A file that a data set was read from.
struct FileMark {
    /// The number of its path in dataset.path, and the path below it: "0", "0/train/cat/1.png". So
    /// a folder that was moved has the same names.
    std::string name;
    std::int64_t size = 0;    ///< bytes
    std::int64_t time = 0;    ///< of its last change, nanoseconds since 1970
    std::int64_t hashed = 0;  ///< bytes, unpacked, that `hash` is of; 0: none
    std::uint64_t hash = 0;   ///< CRC-64 (ECMA-182) of the first ones
    /// Where the file lies; not saved.
    std::filesystem::path path{};

    bool has_hash() const { return hashed > 0; }
};

/// The files that one data set is read from. Each gets a checksum as it is read: a table when it is
/// opened, a picture when it is decoded first. Thread-safe.
class ReadFiles {
public:
    /// `paths`: dataset.path.
    explicit ReadFiles(std::vector<std::string> paths) : paths_(std::move(paths)) {}

    /// Enters a file, with its size and time as they are now, and returns its number. A file that
    /// was entered before keeps its number.
    std::size_t add(const std::filesystem::path& file);
    /// The file's first bytes have this checksum. The checksum of the most bytes counts.
    void add_hash(std::size_t file, std::int64_t bytes, std::uint64_t hash);
    bool has_hash(std::size_t file) const;
    /// Enters, with their checksums, files of dataset.path that no reader has entered.
    void add_unread(const std::stop_token& stop);
    /// Number of files with a checksum.
    std::int64_t hash_count() const;
    /// In the order in which they were entered.
    std::vector<FileMark> marks() const;

    /// Files of the data set that this thread opens; null: none.
    static const std::shared_ptr<ReadFiles>& current() {
        return ReadingContext::of_thread().files;
    }

private:
    std::string name_of(const std::filesystem::path& file) const;
    std::filesystem::path path_of(std::size_t file) const;

    const std::vector<std::string> paths_;
    mutable std::mutex mutex_;                                 // guards all below
    std::map<std::string, std::size_t, std::less<>> numbers_;  // by name
    std::vector<FileMark> marks_;
    std::map<std::size_t, std::filesystem::path> odd_paths_;  // that a name does not give
    std::int64_t hashes_ = 0;
};

/// The checksum of more bytes, after those of `hash` (0 at the beginning).
std::uint64_t content_hash(std::uint64_t hash, const void* bytes, std::size_t count);

/// Identity of the data of a run besides their schema (inputs.json). A run keeps it as data.jsonl.
struct DataFingerprint {
    std::int64_t train = 0, validation = 0, test = 0;  ///< samples
    std::vector<FileMark> files{};
};

void write_data_fingerprint(const std::filesystem::path& run_folder, const DataFingerprint& data);
/// Nothing if the run has none. Throws Error(data) if it is damaged.
std::optional<DataFingerprint> read_data_fingerprint(const std::filesystem::path& run_folder);

/// Files by name that differ from those of a run.
struct DataChange {
    std::vector<std::string> changed, gone, added;
    /// Files from another time without a checksum, since the run ended before it had read them.
    std::vector<std::string> unknown;

    bool empty() const {
        return changed.empty() && gone.empty() && added.empty() && unknown.empty();
    }
    /// "2 files changed (a.png, b.png); 1 file is new (c.png)"
    std::string text() const;
};

/// Compares the files of a run with those that were just opened. Files of equal size and time are
/// equal, unless both have a checksum; of others the contents are compared, and `now` gets their
/// checksums. Throws Error(data) for a file that cannot be read, and ReadingStopped.
DataChange compare_data(const DataFingerprint& kept, std::vector<FileMark>& now,
                        const std::stop_token& stop);

}  // namespace engine
