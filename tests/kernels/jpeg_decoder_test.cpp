#include "kernels/jpeg_decoder.h"

#include <gtest/gtest.h>

#include <cstdio>
// jpeglib.h needs FILE.
#include <jpeglib.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/device_array.h"

// nvJPEG on a GPU that has it, and its stand-in on the simulated device.
namespace kernels::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Two slopes of colour, so that the chroma samples are far from the picture's own.
Bytes pixels(int width, int height) {
    Bytes rgb;
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
            for (const int value : {4 * x, 5 * y, 2 * (x + y)})
                rgb.push_back(static_cast<std::uint8_t>(value % 256));
    return rgb;
}

Bytes jpeg_of(Bytes rgb, int width, int height, bool progressive) {
    jpeg_compress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    unsigned char* memory = nullptr;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &memory, &size);
    info.image_width = static_cast<JDIMENSION>(width);
    info.image_height = static_cast<JDIMENSION>(height);
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, 90, TRUE);
    if (progressive) jpeg_simple_progression(&info);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = rgb.data() + std::size_t{info.next_scanline} * info.image_width * 3;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    Bytes out(memory, memory + size);
    std::free(memory);
    return out;
}

Bytes by_libjpeg(const Bytes& jpeg) {
    jpeg_decompress_struct info{};
    jpeg_error_mgr errors{};
    info.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, const_cast<unsigned char*>(jpeg.data()),
                 static_cast<unsigned long>(jpeg.size()));
    jpeg_read_header(&info, TRUE);
    jpeg_start_decompress(&info);
    Bytes rgb(std::size_t{info.output_width} * info.output_height * 3);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = rgb.data() + std::size_t{info.output_scanline} * info.output_width * 3;
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return rgb;
}

/// Skips the test, in whose body it stands.
#define HALFTONE_NEEDS_NVJPEG()                                                 \
    HALFTONE_NEEDS_CUDA();                                                      \
    if (const cuda::LibraryInfo library = cuda::jpeg_library(); !library.found) \
    GTEST_SKIP() << library.problem

TEST(CudaJpegDecoder, AgreesWithLibjpegWithinAFewLevels) {
    HALFTONE_NEEDS_NVJPEG();
    for (const bool progressive : {false, true})
        for (const auto& [width, height] :
             {std::pair{64, 48}, std::pair{33, 17}, std::pair{9, 70}}) {
            const Bytes jpeg = jpeg_of(pixels(width, height), width, height, progressive);
            const auto decoded = cuda::decode_jpeg(jpeg);
            ASSERT_TRUE(decoded);
            EXPECT_EQ(decoded->width, width);
            EXPECT_EQ(decoded->height, height);
            const Bytes expected = by_libjpeg(jpeg);
            ASSERT_EQ(decoded->rgb.size(), expected.size());
            int largest = 0;
            for (std::size_t i = 0; i < expected.size(); ++i)
                largest = std::max(largest, std::abs(decoded->rgb[i] - expected[i]));
            EXPECT_LE(largest, 4) << width << " x " << height;
        }
}

TEST(CudaJpegDecoder, RefusesWhatIsNoPicture) {
    HALFTONE_NEEDS_NVJPEG();
    EXPECT_FALSE(cuda::decode_jpeg(Bytes(100, 1)));
    Bytes cut = jpeg_of(pixels(64, 64), 64, 64, false);
    cut.resize(20);
    EXPECT_FALSE(cuda::decode_jpeg(cut));
    const Bytes whole = jpeg_of(pixels(8, 8), 8, 8, false);
    EXPECT_TRUE(cuda::decode_jpeg(whole)) << "the next picture";
}

}  // namespace
}  // namespace kernels::test
