#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "io/coco/run_length.h"

// The first two bytes are height and width, the others the text of runs: it is refused, or reads
// back the same from the text of its mask, whose figures agree with its bitmap.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) return 0;
    const int height = data[0] + 1, width = data[1] + 1;
    const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
    const auto mask = engine::read_run_length(text, height, width);
    if (!mask) return 0;
    if (engine::read_run_length(engine::run_length_text(*mask), height, width) != mask) std::abort();
    const auto bitmap = engine::decode_bitmap(*mask);
    const auto again = engine::encode_bitmap(bitmap, height, width);
    std::int64_t area = 0;
    for (const auto pixel : bitmap) area += pixel;
    if (engine::mask_area(*mask) != area || engine::common_area(*mask, again) != area) std::abort();
    if (engine::mask_box(*mask) != engine::mask_box(again)) std::abort();
    if (engine::unite(std::array{*mask, again}) != again) std::abort();
    return 0;
}
