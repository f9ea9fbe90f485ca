#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "data/data_fingerprint.h"
#include "data/dataset.h"
#include "data/image/image_folder_files.h"
#include "engine/io/picture.h"
#include "io/picture/readers.h"

namespace engine {

/// The user's own pictures, decoded each time that one is read: the files must stay where they are.
/// read() scales a picture's shorter side to 8/7 of the image size (256 for 224) and takes the
/// square in its middle; read_augmented() takes a random box, scales it to the image size and
/// mirrors half of the pictures. Normalised by ImageNet's statistics, as torchvision's models are.
class ImageFolderDataset final : public Dataset {
public:
    /// `skips_damaged`: Dataset::skips_damaged(). `decoder`: load_picture_by().
    ImageFolderDataset(std::vector<PictureFile> files, std::vector<std::string> classes,
                       std::int64_t size, bool skips_damaged = false, PixelDecoder decoder = {});

    std::int64_t size() const override { return std::ssize(files_); }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override;
    void read_augmented(std::int64_t index, const SampleFields& out,
                        const SamplePlace& place) const override;
    bool decodes() const override { return true; }
    bool gives_bytes() const override { return true; }
    bool skips_damaged() const override { return skips_damaged_; }
    void guide(InputGuide& guide) const override;

private:
    Picture load(std::int64_t index) const;
    void write_label(std::int64_t index, const SampleFields& out) const;

    std::vector<PictureFile> files_;
    Schema schema_;
    int size_;
    bool skips_damaged_;
    PixelDecoder decoder_;
    std::shared_ptr<ReadFiles> seen_ = ReadFiles::current();
    std::vector<std::size_t> numbers_;  // of the files in seen_
};

/// Lists and looks at the pictures. Throws Error(data), and ReadingStopped.
DataParts open_image_folder(const DatasetConfig& config, std::int64_t seed,
                            const std::stop_token& stop);

}  // namespace engine
