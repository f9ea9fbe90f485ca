#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/detection/detection_sample.h"
#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "engine/settings/catalog.h"
#include "temp_folder.h"

namespace engine::test {

/// A PNG of numbers in 8 or 16 bits, row by row; with a palette the values are its indices. With an
/// orientation of EXIF that is not 1 it says so.
inline std::string number_png(int width, int height, const std::vector<int>& values, int bits = 8,
                              bool palette = false, int orientation = 1) {
    const auto big = [](std::uint32_t value) {
        return std::string{static_cast<char>(value >> 24), static_cast<char>(value >> 16),
                           static_cast<char>(value >> 8), static_cast<char>(value)};
    };
    const auto chunk = [&](const std::string& type, const std::string& data) {
        const std::string all = type + data;
        const auto sum = crc32(0, reinterpret_cast<const Bytef*>(all.data()),
                               static_cast<unsigned>(all.size()));
        return big(static_cast<std::uint32_t>(data.size())) + all +
               big(static_cast<std::uint32_t>(sum));
    };
    std::string rows;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % static_cast<std::size_t>(width) == 0) rows += '\0';
        if (bits == 16) rows += static_cast<char>(values[i] >> 8);
        rows += static_cast<char>(values[i]);
    }
    uLongf size = compressBound(rows.size());
    std::string packed(size, '\0');
    compress(reinterpret_cast<Bytef*>(packed.data()), &size,
             reinterpret_cast<const Bytef*>(rows.data()), rows.size());
    packed.resize(size);
    std::string out("\x89PNG\r\n\x1a\n", 8);
    out += chunk("IHDR", big(static_cast<std::uint32_t>(width)) +
                             big(static_cast<std::uint32_t>(height)) + static_cast<char>(bits) +
                             static_cast<char>(palette ? 3 : 0) + std::string(3, '\0'));
    if (orientation != 1)
        out += chunk("eXIf", std::string("MM\0*\0\0\0\x8\0\1\1\x12\0\3\0\0\0\1\0", 19) +
                                 static_cast<char>(orientation) + std::string(6, '\0'));
    if (palette) out += chunk("PLTE", std::string(768, '\x7F'));
    return out + chunk("IDAT", packed) + chunk("IEND", "");
}

/// A grey picture of one value.
inline std::string plain_png(int width, int height, int orientation = 1) {
    return number_png(width, height,
                      std::vector<int>(static_cast<std::size_t>(width * height), 90), 8, false,
                      orientation);
}

/// A folder of detection data, opened by the descriptor of its kind.
struct DetectionFolder : testing::Test {
    explicit DetectionFolder(const DatasetDescriptor& kind_) : kind(kind_) {
        config.path = {folder.str()};
        config.options["test_share"] = 0.0;
        config.options["short_side"] = std::vector<std::int64_t>{64};
        config.options["long_side"] = std::int64_t{128};
    }
    DataParts open() const { return kind.open(config, 1, {}); }
    /// The sentence of the error that opening ends with; of code data unless it begins with "!".
    std::string problem() const {
        try {
            open();
        } catch (const Error& error) {
            return (error.code() == ErrorCode::data ? "" : "!") + error.message().str();
        }
        return "none";
    }
    std::vector<std::string> warnings() const {
        std::vector<std::string> out;
        for (const Message& each : open().warnings) out.push_back(each.str());
        return out;
    }
    static std::vector<std::array<double, 4>> boxes(const DataPart& part, std::int64_t index) {
        std::vector<std::array<double, 4>> out;
        for (const auto& each : part.data->truth(index)->annotations) out.push_back(each.box);
        return out;
    }
    static std::vector<std::string> classes(const DataParts& parts) {
        return parts.train.data->schema()["labels"].names;
    }
    /// A sample of a part with memory of its own.
    class ReadSample {
    public:
        ReadSample(const DataPart& part, std::int64_t index) {
            const Schema& schema = part.data->schema();
            memory_.resize(schema.fields.size());
            places_.resize(schema.fields.size());
            for (std::size_t f = 0; f < places_.size(); ++f) {
                memory_[f].resize(schema.fields[f].sample_bytes());
                places_[f] = {.data = memory_[f].data(), .bytes = memory_[f].size()};
            }
            part.data->read(index, fields_.emplace(places_));
        }
        const SampleFields* operator->() const { return &*fields_; }

    private:
        std::vector<std::vector<std::byte>> memory_;
        std::vector<SampleFields::Place> places_;
        std::optional<SampleFields> fields_;
    };
    /// All of a sample's boxes, in pixels of the image that the model gets.
    static std::vector<float> trained_boxes(const DataPart& part, std::int64_t index) {
        const ReadSample sample(part, index);
        const auto all = sample->f32(detection_field::boxes);
        const auto used = static_cast<std::size_t>(sample->rows(detection_field::boxes)) * 4;
        return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(used)};
    }

    /// Where the image of a sample that fills its canvas is brightest.
    static std::string bright_corner(const DataPart& part, std::int64_t index) {
        const Schema& schema = part.data->schema();
        const ReadSample sample(part, index);
        const auto image = sample->f32(detection_field::image);
        const auto line = static_cast<std::size_t>(schema.fields[0].shape[2]) * 3;
        const std::vector<float> corners{image.front(), image[line - 3], image[image.size() - line],
                                         image[image.size() - 3]};
        const auto names = {"left top", "right top", "left bottom", "right bottom"};
        return names.begin()[std::ranges::max_element(corners) - corners.begin()];
    }

    const DatasetDescriptor kind;
    test_support::TempFolder folder;
    DatasetConfig config;
};

}  // namespace engine::test
