#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "engine/base/message.h"

namespace engine {

/// A picture file, and the class whose folder it lies in.
struct PictureFile {
    std::filesystem::path path;
    std::int64_t label = 0;
};

/// Files of a folder with a folder a class. Classes and files are in the order of their names.
struct ImageFolder {
    std::vector<std::string> classes;
    std::vector<PictureFile> train, validation, test;
    bool has_test = false;                         ///< it has a folder for it
    std::vector<Message> notes{};                  ///< on folders that are not used
    std::map<std::string, std::int64_t> left_out;  ///< files that are no PNG or JPEG, by extension
};

/// Lists a folder whose folders are the classes, or that has the parts of find_image_parts() (with
/// a test and a validation part; one of them alone is the test part). Goes into the folders of a
/// class; leftovers (is_leftover()) are passed over. Throws Error(data) for a folder without two
/// classes, a class without pictures, and a class that the training part does not have;
/// ReadingStopped.
ImageFolder list_image_folder(const std::filesystem::path& folder, const std::stop_token& stop);

/// Whether the folder looks like one, by the names of its first files.
bool looks_like_image_folder(const std::filesystem::path& folder);

/// The first pictures of the classes in turn, in their old order; 0: all.
void limit_in_turn(std::vector<PictureFile>& files, std::int64_t limit);

/// Moves round(share * n) of the n pictures of each class, drawn by the seed, to the returned list.
std::vector<PictureFile> split_test(std::vector<PictureFile>& files, double share,
                                    std::int64_t seed);

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

/// Looks at the files on several threads and reports its progress (byte_reader.h). Returns
/// those that cannot be read, in the order of the files. Throws ReadingStopped.
std::vector<BadPicture> check_pictures(const std::vector<PictureFile>& files,
                                       const PictureCheck& check);

}  // namespace engine
