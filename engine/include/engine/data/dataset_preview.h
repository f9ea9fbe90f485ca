#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/data/reading_share.h"
#include "engine/settings/run_config.h"

namespace engine {

/// A word and how often it occurs.
struct WordCount {
    std::string word;
    std::int64_t count = 0;
};

/// A column of a table, over all of its rows.
struct ColumnPreview {
    enum class Role { feature, target, unused };
    std::string name;
    Role role = Role::feature;
    bool numeric = true;
    std::int64_t missing = 0;
    double lowest = 0, mean = 0, highest = 0;  ///< of a numeric one
    /// Values in equal bins from lowest to highest; of words, the counts of the most frequent ones.
    std::vector<std::int64_t> histogram;
    std::vector<WordCount> words;  ///< of a column of words, the most frequent first
    std::int64_t different = 0;    ///< words
};

/// A text.
struct TextPreview {
    bool words = true;            ///< else characters
    bool tokens = false;          ///< those of a tokenizer, which are parts of words
    std::int64_t vocabulary = 0;  ///< different words or characters; tokens that there are
    std::vector<WordCount> frequent;
    std::string passage;  ///< its beginning
};

/// A true box in the image that a detector gets.
struct BoxPreview {
    std::array<float, 4> corners{};  ///< left, top, right, bottom
    std::array<std::int64_t, 2> canvas{};  ///< height and width of the image, padding included
};

struct Schema;

/// The contents of a data set, for the settings panel.
struct DatasetPreview {
    std::string unit;  ///< what one sample is called
    std::int64_t train_samples = 0;
    std::int64_t validation_samples = 0;
    std::int64_t test_samples = 0;
    std::int64_t classes = 0;
    std::vector<std::string> class_names;
    std::vector<std::int64_t> train_counts;  ///< samples a class
    struct Thumbnail {
        int width = 0;
        int height = 0;
        int label = 0;
        std::vector<std::uint8_t> rgb;  ///< height * width * 3
    };
    std::vector<Thumbnail> thumbnails;   ///< empty for data that are not images
    std::vector<ColumnPreview> columns;  ///< of a table
    std::optional<TextPreview> text;
    std::vector<BoxPreview> boxes{};  ///< of the first 500 training pictures of a detection set
    std::vector<Message> warnings;
    std::shared_ptr<const Schema> schema;  ///< of its samples, for parameter_count()
};

/// Progress callback and stop token of a preview. Both may be empty.
struct PreviewProgress {
    std::function<void(const ReadingShare&)> read{};  ///< on its thread
    std::stop_token stop{};
};

/// Opens the data set and reads it; may take seconds, so call it off the GUI thread. An empty one
/// after a stop. Throws Error(data) as training would.
DatasetPreview preview_dataset(const DatasetConfig& dataset, std::int64_t seed, int thumbnails,
                               const PreviewProgress& progress = {});

/// Recognises a dropped file or folder: the dataset.kind it holds, "settings" for a settings file,
/// "run" for a run's folder, "log" for event files of TensorBoard, or "" for anything else. Looks at
/// content, not only at names.
std::string recognise_path(const std::string& path);

}  // namespace engine
