#include "kernels/index_problem.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

TEST(CudaIndex, ReadsTheSameBits) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : every_dtype) {
        for (IndexSpan s : index_spans) {
            for (const bool holes : {false, true}) {
                s.holes = holes;
                const Buffer x = awkward_buffer(dtype, indexed_size(s), 1);
                const DeviceBuffer device_x(x);
                for (const bool by_element : {false, true}) {
                    const Buffer index = indices(by_element ? other_size(s) : s.m, s.n, true, 2);
                    const DeviceBuffer device_index(index), device_y(dtype, other_size(s));
                    Buffer y(dtype, other_size(s));
                    (by_element ? cpu::gather : cpu::index_select)(y, x, index, s, {});
                    (by_element ? cuda::gather : cuda::index_select)(device_y, device_x,
                                                                     device_index, s, {});
                    ASSERT_TRUE(same(device_y.host(), y));
                }
            }
        }
    }
}

void expect_same_folds(DType dtype, const IndexSpan& s, IndexFold fold, bool with_base,
                       bool by_element) {
    const Buffer x = awkward_buffer(dtype, other_size(s), 1);
    const Buffer base = awkward_buffer(dtype, indexed_size(s), 3);
    const Buffer index = indices(by_element ? other_size(s) : s.m, s.n, s.holes, 2);
    Buffer y(dtype, indexed_size(s));
    (by_element ? cpu::scatter_reduce : cpu::index_reduce)(y, base, x, index, s, fold, with_base,
                                                           {});
    const DeviceBuffer device_x(x), device_base(base), device_index(index);
    const DeviceBuffer device_y(dtype, indexed_size(s));
    (by_element ? cuda::scatter_reduce : cuda::index_reduce)(device_y, device_base, device_x,
                                                             device_index, s, fold, with_base, {});
    ASSERT_TRUE(same(device_y.host(), y))
        << static_cast<int>(dtype) << " fold " << static_cast<int>(fold) << " outer " << s.outer
        << " n " << s.n << " m " << s.m << " inner " << s.inner;
}

TEST(CudaIndex, FoldsTheSameTermsInTheSameOrder) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype :
         {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64, DType::i32}) {
        for (IndexSpan s : index_spans) {
            for (const IndexFold fold : {IndexFold::last, IndexFold::sum, IndexFold::prod,
                                         IndexFold::mean, IndexFold::max, IndexFold::min}) {
                if (fold == IndexFold::mean && !is_floating(dtype)) continue;
                for (const bool flag : {true, false}) {
                    s.holes = flag;
                    expect_same_folds(dtype, s, fold, flag, true);
                    expect_same_folds(dtype, s, fold, flag, false);
                }
            }
        }
    }
}

TEST(CudaIndex, TheLastWinsForEveryType) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : every_dtype)
        for (const IndexSpan& s : index_spans)
            for (const bool by_element : {true, false})
                expect_same_folds(dtype, s, IndexFold::last, false, by_element);
}

TEST(CudaIndex, AddsInPlace) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer y(Buffer(DType::f32, {1, 2, 3})), x(Buffer(DType::f32, {10, 20, 30, 40}));
    const DeviceBuffer index(Buffer(DType::i64, {2, 0, 2, 2}));
    cuda::index_reduce(y, y, x, index, {1, 3, 4, 1}, IndexFold::sum, true, {});
    EXPECT_EQ(y.host().values(), (std::vector<double>{21, 2, 83}));
}

TEST(CudaIndex, AnIndexOutsideGivesNaN) {
    HALFTONE_NEEDS_CUDA();
    for (const double outside : {-1.0, 3.0, 1e18}) {
        const DeviceBuffer x(Buffer(DType::f32, {1, 2, 3}));
        const DeviceBuffer index(Buffer(DType::i64, {1, outside, 0}));
        const IndexSpan s{1, 3, 3, 1};
        for (const auto read : {cuda::index_select, cuda::gather}) {
            const DeviceBuffer y(DType::f32, 3);
            read(y, x, index, s, {});
            EXPECT_EQ(y.host().get(0), 2);
            EXPECT_TRUE(std::isnan(y.host().get(1)));
        }
        for (const auto write : {cuda::index_reduce, cuda::scatter_reduce}) {
            const DeviceBuffer y(Buffer(DType::f16, {1, 2, 3}));
            write(y, y, DeviceBuffer(Buffer(DType::f16, {1, 2, 3})), index, s, IndexFold::sum, true,
                  {});
            for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y.host().get(i)));
        }
    }
}

}  // namespace
}  // namespace kernels::test
