#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <protozero/pbf_reader.hpp>

#include "engine/runs/export.h"
#include "stored_example.h"
#include "temp_folder.h"

// tests/peer/tensorboard_run.py reads such a file with TensorBoard's own reader.
namespace engine {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Read {
    std::string version, settings;
    std::map<std::string, std::map<std::int64_t, float>> scalars;  ///< by tag and step
    std::map<std::int64_t, double> times;                          ///< by step
};

template <typename T>
T take(std::string& bytes) {
    T value{};
    EXPECT_GE(bytes.size(), sizeof(T));
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof(T)));
    bytes.erase(0, sizeof(T));
    return value;
}

/// CRC-32C bit by bit.
std::uint32_t crc32c(const std::string& bytes) {
    std::uint32_t crc = ~0U;
    for (const char byte : bytes) {
        crc ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    }
    return ~crc;
}

void expect_checksum(std::string& rest, const std::string& bytes) {
    const std::uint32_t unmasked = take<std::uint32_t>(rest) - 0xa282ead8U;
    EXPECT_EQ((unmasked << 15) | (unmasked >> 17), crc32c(bytes));
}

void read_value(protozero::pbf_reader value, std::int64_t step, Read& out) {
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
        } else {
            value.skip();
        }
    }
}

void read_event(const std::string& bytes, Read& out) {
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
        } else {
            event.skip();
        }
    }
}

Read read_folder(const fs::path& folder) {
    const fs::path file = fs::directory_iterator(folder)->path();
    EXPECT_THAT(file.filename().string(), HasSubstr("tfevents"));
    std::ifstream in(file, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(in)), {});
    Read out;
    while (!bytes.empty()) {
        const std::string head = bytes.substr(0, 8);
        const auto length = take<std::uint64_t>(bytes);
        expect_checksum(bytes, head);
        const std::string data = bytes.substr(0, length);
        bytes.erase(0, data.size());
        expect_checksum(bytes, data);
        read_event(data, out);
    }
    return out;
}

TEST(ExportTensorboard, HasEveryColumnTheSkippedStepsAndTheParts) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    export_tensorboard(stored_example(store).folder, dir / "board");
    const Read read = read_folder(dir / "board");
    EXPECT_EQ(read.version, "brain.Event:2");
    EXPECT_THAT(read.settings, HasSubstr("settings/text_summary: ```json"));
    EXPECT_THAT(read.settings, HasSubstr("\"seed\": 7"));
    using Steps = std::map<std::int64_t, float>;
    EXPECT_EQ(read.scalars.at("train/skipped"), (Steps{{1, 0.F}, {2, 1.F}, {3, 1.F}}));
    EXPECT_EQ(read.scalars.at("train/loss_scale"),
              (Steps{{1, 65536.F}, {2, 65536.F}, {3, 32768.F}}));
    EXPECT_EQ(read.scalars.at("train/accuracy").at(3), 0.75F);
    EXPECT_TRUE(std::isnan(read.scalars.at("train/loss").at(2)));
    EXPECT_TRUE(std::isinf(read.scalars.at("train/grad_norm").at(2)));
    EXPECT_EQ(read.scalars.at("train/found_inf").at(2), 1.F);
    EXPECT_EQ(read.scalars.at("test/accuracy"), (Steps{{3, 0.8F}}));
    EXPECT_EQ(read.scalars.at("test/loss"), (Steps{{3, 0.5F}}));
    EXPECT_EQ(read.scalars.at("epoch/loss"), (Steps{{3, 0.6F}}));
    EXPECT_FALSE(read.scalars.contains("validation/loss"));
    EXPECT_EQ(read.times.at(3), 1.7e9 + 3) << "the clock of the step";
    EXPECT_FALSE(read.scalars.contains("train/lost_update_share")) << "was not measured";
    EXPECT_FALSE(read.scalars.contains("train/metric_1"));
    std::size_t columns = 0;
    for_each_named_field(classification_metrics(), [&](std::string_view field, auto) {
        const bool listed = read.scalars.contains("train/" + std::string(field));
        const bool of_several_ranks = field.starts_with("exchange_");
        const bool of_event = field == "step" || field == "clock_s";
        EXPECT_EQ(listed, !of_event && field != "lost_update_share" && !of_several_ranks)
            << field;
        ++columns;
    });
    EXPECT_GT(columns, 25U);
}

TEST(ExportTensorboard, OfALongRunHasEveryStep) {
    const test_support::TempFolder dir;
    RunStore store(dir / "runs");
    export_tensorboard(stored_example(store, 5000).folder, dir / "board");
    const Read read = read_folder(dir / "board");
    EXPECT_EQ(read.scalars.at("train/samples").size(), 5000U);
    EXPECT_EQ(read.scalars.at("train/samples").at(5000), 640000.F);
}

TEST(ExportTensorboard, WithoutARecordMakesNoFolder) {
    const test_support::TempFolder dir;
    EXPECT_THROW(export_tensorboard(dir.path(), dir / "board"), Error);
    EXPECT_FALSE(fs::exists(dir / "board"));
}

}  // namespace
}  // namespace engine
