#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <zlib.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/settings/run_config.h"
#include "temp_folder.h"

namespace engine::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

/// The first `size` of the bytes.
inline Bytes cut(Bytes bytes, std::size_t size) {
    bytes.resize(size);
    return bytes;
}

inline Bytes gzip(const Bytes& data) {
    z_stream stream{};
    deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    Bytes out(deflateBound(&stream, data.size()) + 64);
    stream.next_in = const_cast<std::uint8_t*>(data.data());
    stream.avail_in = static_cast<unsigned>(data.size());
    stream.next_out = out.data();
    stream.avail_out = static_cast<unsigned>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

inline Bytes xz(const Bytes& data) {
    Bytes out(lzma_stream_buffer_bound(data.size()));
    std::size_t size = 0;
    if (lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr, data.data(), data.size(), out.data(),
                                &size, out.size()) != LZMA_OK) {
        throw std::runtime_error("xz failed");
    }
    out.resize(size);
    return out;
}

/// A tar archive with these files, in this order.
inline Bytes tar(const std::vector<std::pair<std::string, Bytes>>& files) {
    std::size_t total = 10240;
    for (const auto& [name, data] : files) total += data.size() + 2048;
    Bytes out(total);
    std::size_t used = 0;
    archive* writer = archive_write_new();
    archive_write_set_format_ustar(writer);
    archive_write_open_memory(writer, out.data(), out.size(), &used);
    for (const auto& [name, data] : files) {
        archive_entry* entry = archive_entry_new();
        archive_entry_set_pathname(entry, name.c_str());
        archive_entry_set_size(entry, static_cast<la_int64_t>(data.size()));
        archive_entry_set_filetype(entry, AE_IFREG);
        archive_entry_set_perm(entry, 0644);
        archive_write_header(writer, entry);
        archive_write_data(writer, data.data(), data.size());
        archive_entry_free(entry);
    }
    archive_write_close(writer);
    archive_write_free(writer);
    out.resize(used);
    return out;
}

/// An IDX file: magic, sizes, then `values` numbers, of which number i is i % modulus.
inline Bytes idx(const std::vector<std::uint32_t>& sizes, std::size_t values, std::size_t modulus) {
    Bytes out{0, 0, 8, static_cast<std::uint8_t>(sizes.size())};
    for (const auto size : sizes) {
        for (int shift = 24; shift >= 0; shift -= 8) {
            out.push_back(static_cast<std::uint8_t>(size >> shift));
        }
    }
    for (std::size_t i = 0; i < values; ++i) out.push_back(static_cast<std::uint8_t>(i % modulus));
    return out;
}
inline Bytes idx_images(std::uint32_t count) { return idx({count, 28, 28}, count * 784, 251); }
inline Bytes idx_labels(std::uint32_t count) { return idx({count}, count, 10); }

/// `count` CIFAR records from record `first` on. Labels as in cifar_label(), pixels by position.
inline std::uint8_t cifar_label(std::int64_t record, int classes) {
    return static_cast<std::uint8_t>(record * 7 % classes);
}
inline std::uint8_t cifar_value(std::int64_t record, std::int64_t element) {
    return static_cast<std::uint8_t>((record * 31 + element * 3) % 253);
}
inline Bytes cifar(int classes, std::int64_t first, std::int64_t count) {
    Bytes out;
    for (std::int64_t record = first; record < first + count; ++record) {
        const std::uint8_t label = cifar_label(record, classes);
        if (classes == 100) out.push_back(label / 5);
        out.push_back(label);
        for (std::int64_t e = 0; e < 3072; ++e) out.push_back(cifar_value(record, e));
    }
    return out;
}

inline DatasetConfig dataset(const std::string& kind, const std::vector<std::string>& paths) {
    DatasetConfig config;
    config.kind = kind;
    config.path = paths;
    return config;
}

/// The data error that the action throws, as "sentence | hint". "" and a test failure if it throws
/// none.
inline std::string data_error(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::data);
        EXPECT_FALSE(error.hint().empty()) << error.what() << ": no word on what to do";
        return error.what() + std::string(" | ") + error.hint().str();
    }
    ADD_FAILURE() << "not refused";
    return "";
}

/// Skips the calling test, with a reason, if a folder of real data is missing.
#define SKIP_WITHOUT_DATA(folder)                                                \
    if (!std::filesystem::exists(std::string(HALFTONE_DATA_DIR "/") + (folder))) \
    GTEST_SKIP() << "no " << (folder) << " in " HALFTONE_DATA_DIR

}  // namespace engine::test
