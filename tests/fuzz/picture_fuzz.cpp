// Decodes the bytes as a PNG or JPEG picture, and scales it as a sample of image-folder.
#include <cstddef>
#include <cstdint>

#include "engine/base/error.h"
#include "io/picture/readers.h"

namespace {

/// Larger pictures are valid, but slow.
constexpr std::int64_t max_scaled = 4'000'000;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace engine;
    for (const Alpha alpha : {Alpha::over_white, Alpha::dropped}) {
        try {
            const Picture picture = read_picture({data, size}, "fuzz", alpha);
            if (std::int64_t{picture.width} * picture.height > max_scaled) continue;
            centre_square(picture, 32, 28);
            const PictureBox box{picture.width / 3, picture.height / 3,
                                 picture.width - picture.width / 3,
                                 picture.height - picture.height / 3};
            resized(picture, box, 28, 28);
        } catch (const Error&) {
        }
    }
    return 0;
}
