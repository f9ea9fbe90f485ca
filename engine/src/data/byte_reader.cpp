#include "data/byte_reader.h"

#include <lzma.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <new>
#include <utility>

#include "data/data_fingerprint.h"
#include "engine/base/error.h"
#include "io/zip/zip.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse_bytes(Message message) {
    throw Error(ErrorCode::data, std::move(message),
                msg("Get the file again; it was probably not copied or downloaded to its end."));
}

[[noreturn]] void refuse_damaged(const fs::path& file, const char* format) {
    refuse_bytes(msg("{}: damaged: its {} data cannot be unpacked", file.string(), format));
}

[[noreturn]] void refuse_cut_short(const fs::path& file, const char* format) {
    refuse_bytes(msg("{}: cut short: its {} data end too early", file.string(), format));
}

[[noreturn]] void refuse_unreadable(const fs::path& file, int error) {
    throw Error(ErrorCode::data, msg("{}: cannot be read: {}", file.string(), std::strerror(error)),
                msg("Check the permissions of the file, and the disk."));
}

std::int64_t size_of(const fs::path& file) {
    std::error_code error;
    const std::uintmax_t bytes = fs::file_size(file, error);
    return error ? 0 : static_cast<std::int64_t>(bytes);
}

/// Gzip, and also plain files, which zlib hands through.
class GzipReader final : public ByteReader {
public:
    explicit GzipReader(const fs::path& file) : file_(file), handle_(gzopen(file.c_str(), "rb")) {
        if (!handle_) refuse_unreadable(file, errno);
        gzbuffer(handle_.get(), 1 << 17);
        if (gzdirect(handle_.get()) == 0) refuse_packed_twice();
    }

    std::size_t read(std::span<std::uint8_t> out) override {
        std::size_t done = 0;
        while (done < out.size()) {
            const auto ask = std::min<std::size_t>(out.size() - done, 1 << 30);
            const int got = gzread(handle_.get(), out.data() + done, static_cast<unsigned>(ask));
            if (got > 0) done += static_cast<std::size_t>(got);
            if (got < static_cast<int>(ask)) {
                check();
                break;
            }
        }
        return done;
    }

    ReadingShare share() const override {
        return {std::max<std::int64_t>(gzoffset(handle_.get()), 0), size_of(file_), true};
    }

private:
    /// Refuses what was packed twice, by a server that packs what is packed already, or by a
    /// person.
    void refuse_packed_twice() {
        std::array<std::uint8_t, 2> start{};
        const bool twice = gzread(handle_.get(), start.data(), start.size()) == 2 &&
                           start == std::array<std::uint8_t, 2>{0x1F, 0x8B};
        if (twice) {
            throw Error(ErrorCode::data, msg("{}: packed twice with gzip", file_.string()),
                        msg("Unpack it once: gunzip writes the file without its .gz."));
        }
        gzrewind(handle_.get());
    }
    void check() {
        int status = Z_OK;
        gzerror(handle_.get(), &status);
        if (status == Z_BUF_ERROR) refuse_cut_short(file_, "gzip");
        if (status == Z_ERRNO) refuse_unreadable(file_, errno);
        if (status != Z_OK && status != Z_STREAM_END) refuse_damaged(file_, "gzip");
    }

    struct Close {
        void operator()(gzFile handle) const { gzclose_r(handle); }
    };
    fs::path file_;
    std::unique_ptr<gzFile_s, Close> handle_;
};

class XzReader final : public ByteReader {
public:
    explicit XzReader(const fs::path& file) : file_(file), handle_(std::fopen(file.c_str(), "rb")) {
        if (!handle_) refuse_unreadable(file, errno);
        // xz -9 needs 65 MiB; the limit keeps a forged header from asking for gigabytes.
        constexpr std::uint64_t memory_limit = std::uint64_t{256} << 20;
        if (lzma_stream_decoder(&stream_, memory_limit, LZMA_CONCATENATED) != LZMA_OK) {
            throw std::bad_alloc();
        }
    }
    ~XzReader() override { lzma_end(&stream_); }
    XzReader(const XzReader&) = delete;
    XzReader& operator=(const XzReader&) = delete;

    std::size_t read(std::span<std::uint8_t> out) override {
        stream_.next_out = out.data();
        stream_.avail_out = out.size();
        while (stream_.avail_out > 0 && !ended_) {
            if (stream_.avail_in == 0 && !std::feof(handle_.get())) refill();
            const bool last = stream_.avail_in == 0 || std::feof(handle_.get());
            const lzma_ret status = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
            if (status == LZMA_STREAM_END) {
                ended_ = true;
            } else if (status == LZMA_BUF_ERROR) {
                refuse_cut_short(file_, "xz");
            } else if (status != LZMA_OK) {
                refuse_damaged(file_, "xz");
            }
        }
        return out.size() - stream_.avail_out;
    }

    ReadingShare share() const override {
        return {std::max<std::int64_t>(std::ftell(handle_.get()), 0), size_of(file_), true};
    }

private:
    void refill() {
        stream_.next_in = input_.data();
        stream_.avail_in = std::fread(input_.data(), 1, input_.size(), handle_.get());
        if (std::ferror(handle_.get())) refuse_unreadable(file_, errno);
    }

    struct Close {
        void operator()(std::FILE* handle) const { std::fclose(handle); }
    };
    fs::path file_;
    std::unique_ptr<std::FILE, Close> handle_;
    lzma_stream stream_ = LZMA_STREAM_INIT;
    std::array<std::uint8_t, 1 << 16> input_{};
    bool ended_ = false;
};

[[noreturn]] void refuse_too_large(const fs::path& file, std::uint64_t max_bytes) {
    throw Error(ErrorCode::data,
                msg("{}: holds more than the {} MiB that a file of this kind can hold",
                    file.string(), max_bytes >> 20),
                msg("Give a file of the data set's official form."));
}

/// Holds another reader to its options. While a data set is opened, it enters the file and its
/// checksum into the files that are read.
class BoundedReader final : public ByteReader {
public:
    BoundedReader(fs::path file, std::unique_ptr<ByteReader> reader, ReadOptions options)
        : file_(std::move(file)), reader_(std::move(reader)), options_(std::move(options)) {
        if (seen_) number_ = seen_->add(file_);
    }
    ~BoundedReader() override {
        if (seen_) seen_->add_hash(number_, static_cast<std::int64_t>(total_), hash_);
        if (reported_) report_reading({});  // what follows the last byte takes a time not known
    }
    BoundedReader(const BoundedReader&) = delete;
    BoundedReader& operator=(const BoundedReader&) = delete;

    std::size_t read(std::span<std::uint8_t> out) override {
        constexpr std::size_t piece = std::size_t{1} << 20;
        std::size_t done = 0;
        while (done < out.size()) {
            if (options_.stop.stop_requested()) throw ReadingStopped{};
            const std::size_t ask = std::min(piece, out.size() - done);
            const std::size_t got = reader_->read(out.subspan(done, ask));
            if (seen_) hash_ = content_hash(hash_, out.data() + done, got);
            done += got;
            total_ += got;
            if (total_ > options_.max_bytes) refuse_too_large(file_, options_.max_bytes);
            report();
            if (got < ask) break;
        }
        return done;
    }

private:
    /// Small files are read before anybody looks, and data sets of many files count those.
    void report() {
        constexpr std::int64_t large = std::int64_t{8} << 20;
        const ReadingShare share = reader_->share();
        if (share.total < large) return;
        report_reading(share);
        reported_ = true;
    }

    fs::path file_;
    std::unique_ptr<ByteReader> reader_;
    ReadOptions options_;
    std::uint64_t total_ = 0;
    const std::shared_ptr<ReadFiles> seen_ = ReadFiles::current();
    std::size_t number_ = 0;
    std::uint64_t hash_ = 0;
    bool reported_ = false;
};

}  // namespace

std::unique_ptr<ByteReader> open_packed(const fs::path& file, const ReadOptions& options) {
    std::error_code error;
    const auto status = fs::status(file, error);
    if (!fs::exists(status)) {
        throw Error(ErrorCode::data, msg("{}: no such file", file.string()),
                    msg("Give the path of the file or of its folder."));
    }
    if (!fs::is_regular_file(status)) {
        throw Error(ErrorCode::data, msg("{}: not a file", file.string()),
                    msg("Give the path of the file or of its folder."));
    }
    const std::uint64_t size = fs::file_size(file, error);
    if (size == 0) refuse_bytes(msg("{}: the file is empty", file.string()));

    constexpr std::array<char, 6> xz_magic{'\xFD', '7', 'z', 'X', 'Z', '\0'};
    std::array<char, 6> start{};
    std::ifstream(file, std::ios::binary).read(start.data(), start.size());
    std::unique_ptr<ByteReader> reader;
    if (start == xz_magic) {
        reader = std::make_unique<XzReader>(file);
    } else if (is_zip(file)) {
        reader = open_zip_file(file);
    } else {
        // The size at the end of a gzip file says nothing where the file was cut short.
        const bool plain = start[0] != '\x1F' || start[1] != '\x8B';
        if (plain && size > options.max_bytes) refuse_too_large(file, options.max_bytes);
        reader = std::make_unique<GzipReader>(file);
    }
    return std::make_unique<BoundedReader>(file, std::move(reader), options);
}

ReadingContext& ReadingContext::of_thread() {
    thread_local ReadingContext context;
    return context;
}

void report_reading(const ReadingShare& share) {
    if (const auto& progress = ReadingContext::of_thread().progress) progress(share);
}

}  // namespace engine
