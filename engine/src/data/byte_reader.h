#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "engine/data/reading_share.h"
#include "kernels/thread_context.h"

namespace engine {

class ReadFiles;

/// The bytes of a data file in order, unpacked on demand, so that a small file never unpacks to
/// more than the caller's buffer.
class ByteReader {
public:
    virtual ~ByteReader() = default;
    /// Fills `out` as far as the data go and returns how far; less than out.size() only at the end.
    /// Throws Error(data) if the packed data are damaged or cut short.
    virtual std::size_t read(std::span<std::uint8_t> out) = 0;
    /// How far in its file it is, in bytes; a total of 0: not known.
    virtual ReadingShare share() const { return {}; }
};

/// A reader throws it once a stop was requested. No Error: nothing is wrong with the data.
struct ReadingStopped {};

struct ReadOptions {
    /// Unpacked bytes that the format can hold. A larger plain file is rejected before it is read,
    /// a packed one as soon as it exceeds this size.
    std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max();
    /// Polled at least once a mebibyte.
    std::stop_token stop;
};

/// Opens a plain, gzip or xz file, or the only file of a zip archive; its first bytes decide which,
/// not its name. The checksums of packed data are checked. Throws Error(data) if the file is
/// missing, empty, too large, or not a regular file, and for an archive of several files.
std::unique_ptr<ByteReader> open_packed(const std::filesystem::path& file,
                                        const ReadOptions& options = {});

/// Whether the file is a tar archive, plain or packed: by its name, or by its content if it can be
/// read.
bool is_archive(const std::filesystem::path& file);

/// Calls `visit` for each file in a tar archive, plain or packed, with its name without folders.
/// Skips bytes that it does not read; false ends the walk. Throws Error(data) if the archive is
/// damaged or larger than the options allow.
void for_each_entry(const std::filesystem::path& archive,
                    const std::function<bool(const std::string& name, ByteReader& data)>& visit,
                    const ReadOptions& options = {});

/// The only file in a zip archive, unpacked on demand. Folders, and what macOS and Windows leave in
/// archives, do not count. Throws Error(data) for an archive with none or several, or a damaged
/// one.
std::unique_ptr<ByteReader> open_zip_file(const std::filesystem::path& archive);

/// Its name without folders. Throws as open_zip_file() does.
std::string name_in_zip(const std::filesystem::path& archive);

/// How far the opening of a data set is. Called by the thread that opens it, a few times a second.
using ReadingProgress = std::function<void(const ReadingShare&)>;

/// Who follows the data set that a thread opens.
struct ReadingContext {
    ReadingProgress progress{};
    std::shared_ptr<ReadFiles> files{};  ///< enters the files that are opened; null: nobody does

    static ReadingContext& of_thread();
};

/// While it lives, data sets that this thread opens report how far they are.
using ReadingProgressScope = kernels::ContextScope<&ReadingContext::progress>;
/// While it lives, files that this thread opens are entered into its argument.
using ReadFilesScope = kernels::ContextScope<&ReadingContext::files>;

/// Tells the scope of this thread, if there is one.
void report_reading(const ReadingShare& share);

}  // namespace engine
