#pragma once

#include <stop_token>
#include <vector>

#include "data/image/image_folder_files.h"
#include "engine/base/message.h"

namespace engine {

/// Which of the pictures are looked at, and how closely.
struct PictureCheck {
    /// Decodes each picture. Without it a file is decoded only if its header, its end or a checksum
    /// of a PNG are not as they should be, which finds what is no picture, too large or cut short,
    /// and damage inside a PNG.
    bool decode = false;
    int threads = 0;  ///< 0: all cores
    std::stop_token stop{};
};

/// A picture that cannot be read, and why.
struct BadPicture {
    std::size_t index = 0;  ///< of the file
    Message why;
};

/// Looks at the files on several threads and reports its progress (reading_progress.h). Returns
/// those that cannot be read, in the order of the files. Throws ReadingStopped.
std::vector<BadPicture> check_pictures(const std::vector<PictureFile>& files,
                                       const PictureCheck& check);

}  // namespace engine
