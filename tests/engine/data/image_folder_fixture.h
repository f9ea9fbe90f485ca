#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/dataset_descriptor.h"
#include "data/loader/batch_loader.h"
#include "engine/io/picture.h"
#include "open_kind.h"
#include "support/data_fixtures.h"
#include "support/picture_files.h"

namespace engine {

struct ImageFolderTest : testing::Test {
    /// Writes `count` pictures per class, of different sizes, JPEG and PNG.
    void add_classes(int count, const std::string& part = "") const {
        for (int i = 0; i < count; ++i) {
            for (const std::string name : {"ants", "bees"}) {
                const int seed = i + (name == "ants" ? 0 : 50);
                const Picture picture = test::make_picture(40 + 3 * i, 60 - 2 * i, seed);
                const std::string file = part + name + '/' + std::to_string(i);
                if (i % 2 == 0)
                    folder.write(file + ".png", test::png_of(picture));
                else
                    folder.write(file + ".jpg", test::jpeg_of(picture));
            }
        }
    }
    DatasetConfig config() const {
        DatasetConfig out = test::dataset("image-folder", {folder.str()});
        out.options["image_size"] = std::int64_t{28};
        return out;
    }
    DataParts open(const DatasetConfig& config) const { return test::open_kind(config); }
    std::string problem(const DatasetConfig& config) const {
        return test::data_error([&] { open(config); });
    }

    test_support::TempFolder folder;
};

/// The bytes of all batches of two epochs.
inline std::vector<std::byte> batches(const DataPart& part, const DatasetConfig& config,
                                      std::int64_t threads, std::int64_t first = 0) {
    LoaderOptions options{.sampler = {.batch_size = 7, .seed = 5}, .epochs = 2, .threads = threads};
    BatchLoader loader(part, with_transforms(part.data->schema(), config, true), options);
    if (first > 0)
        loader.seek(first / loader.batches_per_epoch(), first % loader.batches_per_epoch());
    std::vector<std::byte> out;
    for (Batch batch; loader.next(batch);) {
        for (const auto& field : batch.fields)
            out.insert(out.end(), field.bytes.begin(), field.bytes.end());
    }
    return out;
}

}  // namespace engine
