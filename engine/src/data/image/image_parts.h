#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace engine {

/// Role of a folder of pictures, by its name.
enum class FolderRole {
    other,       ///< a class, or something else
    train,       ///< "train", "Training", "train_images", "trainset", "TRAIN2017"
    validation,  ///< "val", "valid", "validation", "dev"
    test,        ///< "test", "testing"
    evaluation,  ///< "eval", "evaluation": the test part, or with one the validation part
};
FolderRole role_of_folder(const std::string& name);

/// Whether a file is one that operating systems and their programs leave beside people's files:
/// hidden files, __MACOSX, Thumbs.db, desktop.ini and the like.
bool is_leftover(const std::filesystem::path& file);

/// The parts that a folder of pictures has as folders.
struct ImageParts {
    std::optional<std::filesystem::path> train, validation, test;
    std::vector<std::filesystem::path> others;  ///< folders beside them
};

/// Finds the parts of a folder by the names of the folders in it; none: they are classes. Throws
/// Error(data) for names that look like parts without a training part, and for two of one part.
ImageParts find_image_parts(const std::filesystem::path& folder);

}  // namespace engine
