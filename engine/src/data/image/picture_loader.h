#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "data/data_fingerprint.h"
#include "io/picture/readers.h"

namespace engine {

/// Decodes the picture files of a data set each time that one is read. The first time it notes the
/// file's checksum for the data set's fingerprint. Any thread.
class PictureLoader {
public:
    /// Enters the files where this thread opens a data set. `decoder`: as load_picture_by().
    explicit PictureLoader(std::vector<std::filesystem::path> files, PixelDecoder decoder = {});

    /// Throws DamagedSample, or Error(data) where the file is gone, with words on what to do.
    Picture load(std::size_t file) const;

private:
    std::vector<std::filesystem::path> files_;
    PixelDecoder decoder_;
    std::shared_ptr<ReadFiles> seen_ = ReadFiles::current();
    std::vector<std::size_t> numbers_;  // of the files in seen_
};

}  // namespace engine
