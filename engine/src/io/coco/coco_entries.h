#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace engine {

/// Fills its argument as far as the text goes; less than its size only at the end.
using CocoSource = std::function<std::size_t(std::span<std::uint8_t>)>;

enum class CocoList { images, annotations, categories, other };

/// A value of a key: absent, a number or a text.
struct CocoValue {
    std::optional<double> number{};
    std::optional<std::int64_t> whole{};
    std::optional<std::string> text{};
};

/// An entry of one of the lists. Keys that nothing reads are left out.
struct CocoEntry {
    CocoValue id{}, image_id{}, category_id{}, area{}, iscrowd{}, file_name{}, width{}, height{},
        name{}, supercategory{};
    std::vector<double> box{};
    bool has_segmentation = false, good_segmentation = true;
    std::vector<double> points{};          ///< of all parts
    std::vector<std::uint32_t> sizes{};    ///< numbers of each part
    std::vector<double> counts{}, size{};  ///< of runs
    std::optional<std::string> counts_text{};

    void clear();
};

/// Gives each entry of the lists to `take`, in the order of the file, without a tree of its values.
/// `name` stands in the errors. The entry is overwritten by the next one.
///
/// Throws Error(data): no JSON (with the byte), nesting over 64, a text over 64 MiB, a file over 4
/// GiB; a list that is absent, given twice or no list; an entry that is no object.
void read_coco_entries(const std::string& name, const CocoSource& source,
                       const std::function<void(CocoList, CocoEntry&)>& take);

}  // namespace engine
