#include <gtest/gtest.h>

#include "kernels/elementwise.h"
#include "kernels/support.h"
#include "kernels/targets.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// Row-major strides of a shape, times `step`.
std::array<std::int64_t, max_rank> packed_strides(const std::vector<std::int64_t>& shape) {
    std::array<std::int64_t, max_rank> strides{};
    std::int64_t size = 1;
    for (std::size_t k = shape.size(); k-- > 0;) {
        strides[k] = size;
        size *= shape[k];
    }
    return strides;
}

/// Copies with the given strides of x and a dense y, and checks every element by its index.
void expect_copy(DType dtype, const std::vector<std::int64_t>& shape,
                 const std::vector<std::int64_t>& x_strides, std::int64_t x_size) {
    Buffer x(dtype, x_size);
    for (std::int64_t i = 0; i < x_size; ++i) x.set(i, static_cast<double>(i % 251));
    std::int64_t size = 1;
    for (auto n : shape) size *= n;
    Buffer y(dtype, size);
    Strided to{y.array().data, dtype, static_cast<int>(shape.size()), {}, packed_strides(shape)};
    ConstStrided from{x.view().data, dtype, to.rank, {}, {}};
    std::copy(shape.begin(), shape.end(), to.shape.begin());
    from.shape = to.shape;
    std::copy(x_strides.begin(), x_strides.end(), from.strides.begin());
    with_threads([&](int) {
        cpu::fill(y, 99, {});
        cpu::copy_strided(to, from, {});
        for (std::int64_t i = 0; i < size; ++i) {
            std::int64_t rest = i, at = 0;
            for (std::size_t k = shape.size(); k-- > 0;) {
                at += rest % shape[k] * x_strides[k];
                rest /= shape[k];
            }
            ASSERT_EQ(y.get(i), x.get(at)) << "element " << i;
        }
    });
}

TEST(CopyStrided, TransposesPermutesAndBroadcasts) {
    for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::u8}) {
        expect_copy(dtype, {7, 5}, {1, 7}, 35);
        expect_copy(dtype, {300, 257}, {1, 300}, 300 * 257);
        expect_copy(dtype, {2, 3, 16, 17}, {16 * 17 * 3, 1, 17 * 3, 3}, 2 * 3 * 16 * 17);
        expect_copy(dtype, {2, 16, 17, 3}, {16 * 17 * 3, 17, 1, 16 * 17}, 2 * 3 * 16 * 17);
        expect_copy(dtype, {4, 33}, {0, 1}, 33);
        expect_copy(dtype, {33, 4}, {1, 0}, 33);
        expect_copy(dtype, {5, 4}, {8, 2}, 40);
        expect_copy(dtype, {200, 1000}, {1000, 1}, 200000);
        expect_copy(dtype, {}, {}, 1);
        expect_copy(dtype, {1, 1}, {5, 3}, 1);
    }
}

TEST(CopyStrided, WritesIntoStridedMemoryAndLeavesTheGaps) {
    const Buffer x(DType::f32, {1, 2, 3, 4, 5, 6});
    Buffer y(DType::f32, std::vector<double>(12, -1));
    cpu::copy_strided({y.array().data, DType::f32, 2, {2, 3}, {2, 4}},
                      {x.view().data, DType::f32, 2, {2, 3}, {3, 1}}, {});
    EXPECT_EQ(y.values(), (std::vector<double>{1, -1, 4, -1, 2, -1, 5, -1, 3, -1, 6, -1}));
}

TEST(CopyStrided, CopiesNothingOfAnEmptyShape) {
    Buffer y(DType::f32, {7});
    cpu::copy_strided({y.array().data, DType::f32, 2, {0, 3}, {3, 1}},
                      {nullptr, DType::f32, 2, {0, 3}, {3, 1}}, {});
    EXPECT_EQ(y.get(0), 7);
}

struct Layout {
    std::vector<std::int64_t> shape, y, x;  ///< strides of y and of x
};

/// The number of elements from the first to the last, both included.
std::int64_t extent(const Layout& layout, const std::vector<std::int64_t>& strides) {
    std::int64_t size = 1;
    for (std::size_t k = 0; k < strides.size(); ++k) size += (layout.shape[k] - 1) * strides[k];
    return size;
}

void expect_same_copy(DType dtype, const Layout& layout, std::int64_t skip = 0) {
    const std::int64_t y_size = extent(layout, layout.y), x_size = extent(layout, layout.x);
    Strided to{nullptr, dtype, static_cast<int>(layout.shape.size()), {}, {}};
    ConstStrided source{nullptr, dtype, to.rank, {}, {}};
    for (std::size_t k = 0; k < layout.shape.size(); ++k) {
        to.shape[k] = source.shape[k] = layout.shape[k];
        to.strides[k] = layout.y[k];
        source.strides[k] = layout.x[k];
    }
    const auto results =
        run_twins(cpu::copy_strided, cuda::copy_strided, dtype, y_size,
                  {awkward_buffer(dtype, x_size + skip, 1)}, x_size + skip == 1 ? 0 : skip,
                  [&](CopyStrided f, Array y, const std::vector<ConstArray>& in) {
                      to.data = y.data;
                      source.data = in[0].data;
                      f(to, source, {});
                  });
    ASSERT_EQ(results.cuda.bytes(), results.cpu.bytes())
        << ::testing::PrintToString(layout.shape) << " from strides "
        << ::testing::PrintToString(layout.x) << ", type " << static_cast<int>(dtype);
}

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> strides(shape.size());
    std::int64_t size = 1;
    for (std::size_t k = shape.size(); k-- > 0;) {
        strides[k] = size;
        size *= shape[k];
    }
    return strides;
}

const std::vector<Layout> layouts = {
    {{}, {}, {}},
    {{1, 1}, {7, 3}, {5, 9}},
    {{4097}, {1}, {1}},
    {{4097}, {1}, {0}},
    {{4097}, {2}, {3}},
    {{7, 5}, {5, 1}, {1, 7}},
    {{300, 257}, {257, 1}, {1, 300}},
    {{32, 64}, {64, 1}, {1, 32}},
    {{16, 16}, {16, 1}, {1, 16}},
    {{5, 40, 33}, {1320, 33, 1}, {1320, 1, 40}},            // a batch of transposes
    {{40, 5, 33}, {165, 33, 1}, {1, 1320, 40}},             // the batch dimension is in the middle
    {{40, 33}, {50, 1}, {1, 44}},                           // between wider matrices
    {{2, 3, 16, 17}, {816, 272, 17, 1}, {816, 1, 51, 3}},   // NHWC to NCHW
    {{2, 16, 17, 3}, {816, 51, 3, 1}, {816, 17, 1, 272}},   // and back
    {{2, 64, 6, 7}, {2688, 42, 7, 1}, {2688, 1, 448, 64}},  // many channels
    {{2, 6, 7, 64}, {2688, 448, 64, 1}, {2688, 7, 1, 42}},
    {{4, 33}, {33, 1}, {0, 1}},
    {{33, 4}, {4, 1}, {1, 0}},
    {{6, 8, 16}, {128, 16, 1}, {160, 20, 1}},  // rows of a wider tensor
    {{6, 8, 16}, {160, 20, 1}, {128, 16, 1}},  // into one
    {{6, 8, 15}, {160, 20, 1}, {120, 15, 1}},
    {{2, 3}, {2, 4}, {3, 1}},
    {{3, 3, 3, 3, 3, 3, 3, 3},
     {2187, 729, 243, 81, 27, 9, 3, 1},
     {1, 3, 9, 27, 81, 243, 729, 2187}},
    {{2, 2, 2, 2, 2, 2, 2, 40},
     {5120, 2560, 1280, 640, 320, 160, 80, 1},
     {40, 80, 160, 320, 640, 1280, 2560, 1}},
};

TEST(CudaCopyStrided, CopiesEveryLayoutAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (DType dtype : {DType::f64, DType::f32, DType::bf16, DType::u8})
        for (const Layout& layout : layouts)
            for (std::int64_t skip : {0, 1, 2}) expect_same_copy(dtype, layout, skip);
}

TEST(CudaCopyStrided, GoesOnBeyondOneGrid) {
    HALFTONE_NEEDS_CUDA();
    expect_same_copy(DType::f32, {{3, 200, 301}, dense_strides({3, 200, 301}), {1, 3, 600}});
    expect_same_copy(DType::f16, {{7, 301, 40}, dense_strides({7, 301, 40}), {12040, 1, 301}});
}

TEST(CudaCopyStrided, ReadsBackwards) {
    HALFTONE_NEEDS_CUDA();
    const Buffer x = random_buffer(DType::f32, 64 * 40, 2);
    const DeviceBuffer in(x), out(DType::f32, 64 * 40);
    cuda::copy_strided({out.array().data, DType::f32, 2, {64, 40}, {40, 1}},
                       {in.as<float>() + 63 * 40 + 39, DType::f32, 2, {64, 40}, {-40, -1}}, {});
    const Buffer y = out.host();
    for (std::int64_t i = 0; i < x.size(); ++i) ASSERT_EQ(y.get(i), x.get(x.size() - 1 - i));
}

TEST(CudaCopyStrided, CopiesNothingOfAnEmptyShape) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer y(Buffer(DType::f32, {7}));
    cuda::copy_strided({y.array().data, DType::f32, 2, {0, 3}, {3, 1}},
                       {nullptr, DType::f32, 2, {0, 3}, {3, 1}}, {});
    EXPECT_EQ(y.host().get(0), 7);
}

}  // namespace
}  // namespace kernels::test
