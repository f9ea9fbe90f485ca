#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/byte_reader.h"
#include "data/data_files.h"
#include "data/dataset.h"
#include "data/image/image_dataset.h"

namespace engine {

/// The binary version of CIFAR: records of label bytes, then 1,024 red, 1,024 green and 1,024 blue
/// bytes, each row by row.
struct CifarFormat {
    std::string kind;  ///< as in RunConfig
    std::string title;
    std::vector<std::int64_t>
        label_classes;  ///< of each label byte; the last is the class that counts

    std::int64_t classes() const { return label_classes.back(); }
    std::size_t record_bytes() const { return label_classes.size() + 3072; }
    /// Largest size of one file: CIFAR has 60,000 images in all.
    std::uint64_t max_file_bytes() const { return 60'000 * record_bytes(); }
};
const CifarFormat& cifar10_format();  ///< one label byte
inline bool is_cifar10(const CifarFormat& format) { return format.label_classes.size() == 1; }
const CifarFormat& cifar100_format();  ///< coarse and fine label; the fine one is used

/// Whether these bytes can be the beginning of a file of records: every label in them is in range
/// and at least one whole record is there.
bool could_be(const CifarFormat& format, std::span<const std::uint8_t> beginning);

/// Appends the records of a file, `limit` at most (0: all), as H, W, C. Throws Error(data) that
/// names `file` if it ends inside a record, holds a label out of range or records of the other
/// CIFAR.
void append_cifar(const std::string& file, ByteReader& reader, const CifarFormat& format,
                  std::int64_t limit, LabelledImages& out);

/// Opens kind `cifar10` or `cifar100` from folders, files and archives, in parts or whole.
/// Throws Error(data), and ReadingStopped once `stop` is requested.
DataParts open_cifar(const DatasetConfig& config, const std::stop_token& stop = {});

/// Files that find_data_files() looks for; recognise_path() uses it too.
Wanted wanted_cifar(const CifarFormat& format);
/// Whether it is a training file, by DataFile::name or an entry's name in an archive.
bool is_cifar_train(const std::string& name);
bool is_cifar_test(const std::string& name);

}  // namespace engine
