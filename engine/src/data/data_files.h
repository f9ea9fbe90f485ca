#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// A file of a data set. `name` is its name in lower case without .gz or .xz: what it is recognised
/// by.
struct DataFile {
    std::filesystem::path path;
    std::string name;
    bool archive = false;
};

/// Files to look for in the paths that the user gave.
struct Wanted {
    std::function<bool(const std::string& name)> accepts;  ///< of a file, by DataFile::name
    std::vector<std::string> inside;  ///< folders and archives to look into where a folder has none
    bool archives = false;            ///< tar archives are taken too
    bool copies = false;              ///< "x (1).bin" is a copy of x.bin
    std::string title;                ///< "CIFAR-100", for the errors
    std::string looked_for;           ///< "train.bin and test.bin (also .gz, .xz)"
    std::string page{};               ///< where they come from; empty: from the user
};

/// The files of `paths` (folders, files, archives), in the order of the list and in a folder in the
/// order of their names, numbers by value: train, train-part2, train-part10. A plain file hides its
/// packed twin. Hidden files and unfinished downloads are passed over. One file alone that is no
/// archive stands for its folder. Throws Error(data) if a path is missing, is a zip archive, or
/// nothing is found.
std::vector<DataFile> find_data_files(const std::vector<std::string>& paths, const Wanted& wanted);

/// Bytes that one data set may take in memory: 8 GiB or half of the machine's memory.
std::int64_t largest_dataset_bytes();

/// Whether the file is a table in the format of another program (xlsx, ods, parquet, ...), by its
/// first bytes.
bool is_other_table(const std::filesystem::path& file);
/// Throws Error(data) for such a file, naming how to save it as CSV.
void refuse_other_tables(const std::filesystem::path& file);

/// Whether a comes before b in the order described above.
bool name_before(const std::string& a, const std::string& b);

/// Advice for missing files: which were looked for, and where they come from.
Message where_to_get(const Wanted& wanted);

/// Lowers the letters A to Z; other bytes stay.
std::string in_lower_case(std::string name);

/// DataFile::name of a file name: lower case, without .gz or .xz.
std::string recognition_name(const std::string& file_name);

}  // namespace engine
