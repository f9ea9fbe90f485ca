#pragma once

#include <filesystem>

#include "data/byte_reader.h"
#include "data/dataset.h"
#include "data/image/image_dataset.h"

namespace engine {

/// Samples that one IDX file may hold: MNIST has 60,000, its largest descendants some 800,000.
inline constexpr std::int64_t max_idx_samples = 1'000'000;

/// Appends the images of an IDX file (big-endian: 00 00 08 03, count, 28, 28, then the pixels row
/// by row) to `out`, `limit` of them at most (0: all); returns how many. A file that is read to its
/// end must hold what its header says, no less and no more. Throws Error(data), and ReadingStopped
/// once `stop` is requested.
std::int64_t append_idx_images(const std::filesystem::path& file, std::int64_t limit,
                               LabelledImages& out, const std::stop_token& stop = {});

/// Appends labels (00 00 08 01, count, then a byte each), which must be below `classes`.
std::int64_t append_idx_labels(const std::filesystem::path& file, std::int64_t limit,
                               std::int64_t classes, LabelledImages& out,
                               const std::stop_token& stop = {});

inline constexpr char mnist_kind[] = "mnist", fashion_mnist_kind[] = "fashion-mnist";

/// Opens kind `mnist` or `fashion-mnist`: four IDX files, or several parts of each, in the folders
/// or files of config.path. Where a folder has several sets, distinguished by their names, one file
/// chooses its own. Throws Error(data), and ReadingStopped.
DataParts open_idx(const DatasetConfig& config, const std::stop_token& stop = {});

/// Files that find_data_files() looks for; recognise_path() uses it too.
struct Wanted;
Wanted wanted_idx();

/// Whether a file with this DataFile::name holds images / belongs to the training set.
bool is_idx_images(const std::string& name);
bool is_idx_train(const std::string& name);
/// The rest of the name beside that and the number of a part: "emnist-digits"; "": nothing.
std::string idx_set(const std::string& name);

}  // namespace engine
