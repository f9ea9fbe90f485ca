#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <string>

// An event file of TensorBoard, read apart from the program's own reader.
namespace test_support {

struct TensorboardFile {
    std::string version, settings;
    std::map<std::string, std::map<std::int64_t, float>> scalars;  ///< by tag and step
    std::map<std::int64_t, double> times;                          ///< by step
    std::map<std::string, std::string> hparams;                    ///< data of the plugin, by tag
    std::int64_t restarted_at = 0;                                 ///< 0: the run began
};

template <typename T>
T taken_from(std::string& bytes) {
    T value{};
    EXPECT_GE(bytes.size(), sizeof(T));
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(T)));
    bytes.erase(0, sizeof(T));
    return value;
}

/// CRC-32C bit by bit.
inline std::uint32_t crc32c_by_bits(const std::string& bytes) {
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    }
    return ~crc;
}

inline void expect_checksum(std::string& rest, const std::string& bytes) {
    const std::uint32_t unmasked = taken_from<std::uint32_t>(rest) - 0xa282ead8U;
    EXPECT_EQ((unmasked << 15) | (unmasked >> 17), crc32c_by_bits(bytes));
}

inline void read_value(protozero::pbf_reader value, std::int64_t step, TensorboardFile& out) {
    std::string tag;
    while (value.next()) {
        if (value.tag() == 1) {
            tag = value.get_string();
        } else if (value.tag() == 2) {
            EXPECT_TRUE(out.scalars[tag].emplace(step, value.get_float()).second) << tag;
        } else if (value.tag() == 8) {
            protozero::pbf_reader tensor = value.get_message();
            while (tensor.next()) {
                if (tensor.tag() == 8)
                    out.settings = tag + ": " + tensor.get_string();
                else
                    tensor.skip();
            }
        } else if (value.tag() == 9 && tag.starts_with("_hparams_/")) {
            protozero::pbf_reader metadata = value.get_message();
            while (metadata.next(1)) {
                protozero::pbf_reader plugin = metadata.get_message();
                while (plugin.next(2)) out.hparams[tag] = plugin.get_bytes();
            }
        } else {
            value.skip();
        }
    }
}

inline void read_event(const std::string& bytes, TensorboardFile& out) {
    protozero::pbf_reader event(bytes);
    std::int64_t step = 0;
    double time = 0;
    while (event.next()) {
        if (event.tag() == 1) {
            time = event.get_double();
        } else if (event.tag() == 2) {
            step = event.get_int64();
            out.times[step] = time;
        } else if (event.tag() == 3) {
            out.version = event.get_string();
        } else if (event.tag() == 5) {
            protozero::pbf_reader summary = event.get_message();
            while (summary.next(1)) read_value(summary.get_message(), step, out);
        } else if (event.tag() == 7) {
            out.restarted_at = step;
            event.skip();
        } else {
            event.skip();
        }
    }
}

/// Reads one file; a record that is cut off is a failure.
inline TensorboardFile read_tensorboard(const std::filesystem::path& file) {
    EXPECT_NE(file.filename().string().find("tfevents"), std::string::npos);
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    TensorboardFile out;
    while (!bytes.empty()) {
        const std::string head = bytes.substr(0, 8);
        const auto length = taken_from<std::uint64_t>(bytes);
        expect_checksum(bytes, head);
        const std::string data = bytes.substr(0, length);
        bytes.erase(0, data.size());
        expect_checksum(bytes, data);
        read_event(data, out);
    }
    return out;
}

}  // namespace test_support
