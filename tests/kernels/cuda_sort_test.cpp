#include "kernels/sort.h"

#include "kernels/twins.h"

namespace kernels::test {
namespace {

struct Shape {
    std::int64_t outer, n, inner;
    std::int64_t size() const { return outer * n * inner; }
};

void expect_same_order(const Buffer& x, const Shape& s) {
    for (const bool descending : {false, true}) {
        const Results results =
            run_twins(cpu::sort_order, cuda::sort_order, DType::i64, s.size(), {x}, 0,
                      [&](SortOrder f, Array y, const std::vector<ConstArray>& in) {
                          f(y, in[0], s.outer, s.n, s.inner, descending, {});
                      });
        ASSERT_EQ(results.cuda.bytes(), results.cpu.bytes())
            << "(" << s.outer << ", " << s.n << ", " << s.inner << ") of type "
            << static_cast<int>(x.dtype()) << (descending ? " descending" : "");
    }
}

Buffer many_equal(DType dtype, std::int64_t size) {
    Buffer x(dtype, size);
    for (std::int64_t i = 0; i < size; ++i)
        x.set(i, static_cast<double>(i * 7919 % 1013 % (dtype == DType::boolean ? 2 : 29)));
    return x;
}

TEST(CudaSortOrder, MeetsTheCpuInEveryType) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : every_dtype)
        for (const Shape& s : {Shape{2, 33, 3}, {1, 1500, 1}}) {
            expect_same_order(many_equal(dtype, s.size()), s);
            if (dtype != DType::boolean) expect_same_order(awkward_buffer(dtype, s.size(), 7), s);
        }
}

TEST(CudaSortOrder, MeetsTheCpuInEveryShape) {
    HALFTONE_NEEDS_CUDA();
    // Segments that fill a block and do not; one, two and three merges, with a run left over.
    for (const Shape& s : {Shape{1, 1, 1},
                           {0, 5, 2},
                           {2, 0, 3},
                           {5, 2, 1},
                           {7, 3, 2},
                           {300, 5, 3},
                           {1, 512, 3},
                           {1, 1024, 1},
                           {3, 1025, 1},
                           {1, 2049, 2},
                           {1, 5000, 1}})
        expect_same_order(random_buffer(DType::f32, s.size(), 8), s);
}

TEST(CudaSortOrder, IsStableOverLongRowsOfEqualElements) {
    HALFTONE_NEEDS_CUDA();
    for (const Shape& s : {Shape{1, 3000, 1}, {2, 2500, 2}}) {
        expect_same_order(many_equal(DType::f16, s.size()), s);
        expect_same_order(
            Buffer(DType::f32, std::vector<double>(static_cast<std::size_t>(s.size()), 1)), s);
    }
}

}  // namespace
}  // namespace kernels::test
