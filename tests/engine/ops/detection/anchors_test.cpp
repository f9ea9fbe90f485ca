#include "ops/detection/anchors.h"

#include <gtest/gtest.h>

#include <cmath>

#include "drawn.h"
#include "support/expectations.h"
#include "tensor/dtype.h"

namespace engine {
namespace {

using Canvas = std::array<std::int64_t, 2>;

constexpr Canvas canvases[] = {
    {800, 1344}, {800, 1216}, {64, 64},   {32, 32},   {128, 128},  {96, 160},  {224, 32},
    {512, 512},  {800, 800},  {1344, 800}, {64, 2048}, {256, 320},  {320, 256}, {480, 640},
    {32, 1024},  {192, 192},  {608, 800}, {416, 416}, {1216, 1216}, {160, 96}};

TensorList pyramid(const Canvas& canvas) {
    TensorList maps;
    for (const std::int64_t stride : {4, 8, 16, 32, 64})
        maps.push_back(Tensor::zeros({1, 1, (canvas[0] + stride - 1) / stride,
                                      (canvas[1] + stride - 1) / stride},
                                     DType::bf16));
    return maps;
}

double checksum(const std::vector<double>& values) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
        sum += static_cast<std::int64_t>(values[i] * 2) * static_cast<std::int64_t>(i % 9973 + 1);
    return static_cast<double>(sum);
}

TEST(Anchors, AreTorchvisionsOnTwentyCanvases) {
    for (std::size_t i = 0; i < std::size(canvases); ++i) {
        SCOPED_TRACE(i);
        const std::vector<double> sizes = i % 2 == 0 ? std::vector<double>{32, 64, 128, 256, 512}
                                                     : std::vector<double>{8, 16, 32, 64, 128};
        const Tensor made = anchors(pyramid(canvases[i]), canvases[i], sizes);
        EXPECT_EQ(made.dtype(), DType::f32);
        const auto values = made.values();
        const std::string name = "anchors." + std::to_string(i);
        EXPECT_EQ(checksum(values), golden(name + ".sum").front());
        EXPECT_EQ(std::vector(values.end() - 12, values.end()), golden(name + ".last"));
    }
}

TEST(Anchors, OfSize32AreRoundedHalfToEven) {
    const Tensor one = Tensor::zeros({1, 8, 1, 1}, DType::f32);
    EXPECT_EQ(anchors({one}, {32, 32}, {32}).values(),
              (std::vector<double>{-23, -11, 23, 11, -16, -16, 16, 16, -11, -23, 11, 23}));
}

TEST(Anchors, RefuseAnEmptyMapAndSizesForOtherMaps) {
    const Tensor one = Tensor::zeros({1, 8, 1, 1}, DType::f32);
    message_of(ErrorCode::value, [&] { anchors({one}, {32, 32}, {32, 64}); });
    message_of(ErrorCode::value, [&] { anchors({one}, {0, 32}, {32}); });
    message_of(ErrorCode::shape,
               [&] { anchors({Tensor::zeros({1, 8, 0, 1}, DType::f32)}, {32, 32}, {32}); });
}

}  // namespace
}  // namespace engine
