#include <map>

#include "kernels/index.h"
#include "kernels/index_problem.h"
#include "kernels/sum_tolerance.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

const std::vector<DType> every_type = {DType::f64, DType::f32, DType::f16, DType::bf16,
                                       DType::i64, DType::i32, DType::u8,  DType::boolean};

TEST(Index, SelectsRowsAndReadsZeroInHoles) {
    with_threads([](int) {
        for (const DType dtype : every_type) {
            for (IndexSpan s : index_spans) {
                s.holes = true;
                Buffer x = random_buffer(dtype, indexed_size(s), 1, 3, 40);
                Buffer index = indices(s.m, s.n, true, 2), y(dtype, other_size(s));
                cpu::index_select(y, x, index, s, {});
                for_each_other(
                    s, [&](std::int64_t o, std::int64_t i, std::int64_t c, std::int64_t at) {
                        const std::int64_t j = index.as<std::int64_t>()[i];
                        ASSERT_EQ(y.get(at), j < 0 ? 0 : x.get((o * s.n + j) * s.inner + c));
                    });
            }
        }
    });
}

TEST(Index, GathersByElement) {
    with_threads([](int) {
        for (const DType dtype : every_type) {
            for (IndexSpan s : index_spans) {
                s.holes = true;
                Buffer x = random_buffer(dtype, indexed_size(s), 1, 3, 40);
                Buffer index = indices(other_size(s), s.n, true, 2), y(dtype, other_size(s));
                cpu::gather(y, x, index, s, {});
                for_each_other(
                    s, [&](std::int64_t o, std::int64_t, std::int64_t c, std::int64_t at) {
                        const std::int64_t j = index.as<std::int64_t>()[at];
                        ASSERT_EQ(y.get(at), j < 0 ? 0 : x.get((o * s.n + j) * s.inner + c));
                    });
            }
        }
    });
}

/// The fold of `terms` in f64. The base, if there is one, is the first term.
double folded(const std::vector<double>& terms, IndexFold fold) {
    double sum = 0, prod = 1, most = terms[0], least = terms[0];
    for (const double v : terms) {
        sum += v;
        prod *= v;
        most = std::max(most, v);
        least = std::min(least, v);
    }
    switch (fold) {
        case IndexFold::last:
            return terms.back();
        case IndexFold::sum:
            return sum;
        case IndexFold::prod:
            return prod;
        case IndexFold::mean:
            return sum / static_cast<double>(terms.size());
        case IndexFold::max:
            return most;
        case IndexFold::min:
            break;
    }
    return least;
}

/// The allowed error of one element: the roundings of the sum or the product in the computing type.
double fold_slack(DType dtype, const std::vector<double>& terms, IndexFold fold) {
    const auto n = static_cast<double>(terms.size());
    const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
    double magnitude = 0;
    for (const double v : terms) magnitude += std::fabs(v);
    if (fold == IndexFold::sum) return n * unit * magnitude;
    if (fold == IndexFold::mean) return (n + 1) * unit * magnitude / n;
    if (fold == IndexFold::prod) return 2 * n * unit * std::fabs(folded(terms, fold));
    return 0;
}

/// Compares both kernels with lists of terms for each element.
void expect_folds(DType dtype, IndexSpan s, IndexFold fold, bool with_base, bool by_element) {
    s.holes = true;
    // Products of thousands of factors near 1 stay in range.
    Buffer x = random_buffer(dtype, other_size(s), 1, fold == IndexFold::prod ? 1 : 0,
                             fold == IndexFold::prod ? 0.01 : 1);
    Buffer base = random_buffer(dtype, indexed_size(s), 3, 1, 0.5), y(dtype, indexed_size(s));
    Buffer index = indices(by_element ? other_size(s) : s.m, s.n, true, 2);
    (by_element ? cpu::scatter_reduce : cpu::index_reduce)(y, base, x, index, s, fold, with_base,
                                                           {});
    std::map<std::int64_t, std::vector<double>> terms;
    for_each_other(s, [&](std::int64_t o, std::int64_t i, std::int64_t c, std::int64_t at) {
        const std::int64_t j = index.as<std::int64_t>()[by_element ? at : i];
        if (j < 0) return;
        const std::int64_t to = (o * s.n + j) * s.inner + c;
        if (terms[to].empty() && with_base) terms[to].push_back(base.get(to));
        terms[to].push_back(x.get(at));
    });
    for (std::int64_t i = 0; i < y.size(); ++i) {
        const auto found = terms.find(i);
        if (found == terms.end())
            ASSERT_EQ(y.get(i), base.get(i));
        else
            ASSERT_TRUE(near(y.get(i), folded(found->second, fold), dtype,
                             fold_slack(dtype, found->second, fold)))
                << "element " << i << " of " << found->second.size() << " terms, fold "
                << static_cast<int>(fold);
    }
}

constexpr IndexFold every_fold[] = {IndexFold::last, IndexFold::sum, IndexFold::prod,
                                    IndexFold::mean, IndexFold::max, IndexFold::min};

TEST(Index, FoldsTermsByRowAndByElement) {
    with_threads([](int) {
        for (const DType dtype : floating)
            for (const IndexSpan& s : index_spans)
                for (const IndexFold fold : every_fold)
                    for (const bool with_base : {true, false})
                        for (const bool by_element : {true, false})
                            expect_folds(dtype, s, fold, with_base, by_element);
    });
}

TEST(Index, FoldsIntegersExactly) {
    for (const DType dtype : {DType::i64, DType::i32}) {
        Buffer y(dtype, {10, 20, 30});
        const Buffer x(dtype, {1, 2, 3, 4}), index(DType::i64, {2, 0, 2, 2});
        const IndexSpan s{1, 3, 4, 1};
        cpu::index_reduce(y, y, x, index, s, IndexFold::sum, true, {});
        EXPECT_EQ(y.values(), (std::vector<double>{12, 20, 38}));
        cpu::index_reduce(y, y, x, index, s, IndexFold::prod, true, {});
        EXPECT_EQ(y.values(), (std::vector<double>{24, 20, 456}));
        cpu::index_reduce(y, y, x, index, s, IndexFold::max, false, {});
        EXPECT_EQ(y.values(), (std::vector<double>{2, 20, 4}));
        cpu::index_reduce(y, y, x, index, s, IndexFold::last, false, {});
        EXPECT_EQ(y.values(), (std::vector<double>{2, 20, 4}));
    }
}

TEST(Index, ASumOfManySmallTermsKeepsThem) {
    // Added one by one in f32 they would stop at 2^24.
    constexpr std::int64_t m = (1 << 24) + 1024;
    Buffer y(DType::f32, {0}), x(DType::f32, m);
    const Buffer index(DType::i64, m);
    for (std::int64_t i = 0; i < m; ++i) x.as<float>()[i] = 1;
    cpu::index_reduce(y, y, x, index, {1, 1, m, 1}, IndexFold::sum, true, {});
    EXPECT_EQ(y.get(0), static_cast<double>(m));
}

TEST(Index, ATwiceRoundedSumWouldBeWrong) {
    // 1 + 2^-11 + 2^-11 is the next f16 number after 1. Rounded after each term, the sum would stay
    // 1.
    Buffer y(DType::f16, {1});
    cpu::index_reduce(y, y, Buffer(DType::f16, {0x1p-11, 0x1p-11}), Buffer(DType::i64, {0, 0}),
                      {1, 1, 2, 1}, IndexFold::sum, true, {});
    EXPECT_EQ(y.get(0), 1 + 0x1p-10);
}

TEST(Index, ExtremesKeepNaN) {
    const double none = std::nan("");
    for (const IndexFold fold : {IndexFold::max, IndexFold::min}) {
        Buffer y(DType::f32, {1, none, 1});
        cpu::index_reduce(y, y, Buffer(DType::f32, {none, 2, 0, 3, 5}),
                          Buffer(DType::i64, {0, 1, 0, 1, 2}), {1, 3, 5, 1}, fold, true, {});
        EXPECT_TRUE(std::isnan(y.get(0)));
        EXPECT_TRUE(std::isnan(y.get(1)));
        EXPECT_EQ(y.get(2), fold == IndexFold::max ? 5 : 1);
    }
}

TEST(Index, AnIndexOutsideGivesNaN) {
    for (const double outside : {-1.0, -2.0, 3.0, 1e18}) {
        const Buffer x(DType::f32, {1, 2, 3}), index(DType::i64, {1, outside, 0});
        const IndexSpan s{1, 3, 3, 1};
        for (const auto read : {cpu::index_select, cpu::gather}) {
            Buffer y(DType::f32, 3);
            read(y, x, index, s, {});
            EXPECT_EQ(y.get(0), 2);
            EXPECT_TRUE(std::isnan(y.get(1)));
            EXPECT_EQ(y.get(2), 1);
        }
        for (const auto write : {cpu::index_reduce, cpu::scatter_reduce}) {
            Buffer y(DType::f16, 3);
            write(y, y, Buffer(DType::f16, {1, 2, 3}), index, s, IndexFold::sum, true, {});
            for (int i = 0; i < 3; ++i) EXPECT_TRUE(std::isnan(y.get(i)));
        }
    }
}

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

/// The simulated device spends its time on sorting the terms, which does not depend on the type or
/// the fold. This many tiles are sorted for one floating and one integer type; more are sorted for
/// a single fold only.
bool sorts_for(DType dtype, IndexFold fold, const IndexSpan& s) {
    if (!is_simulated_device()) return true;
    if (other_size(s) > 10'000) return dtype == DType::f32 && fold == IndexFold::sum;
    return other_size(s) < 2'000 || dtype == DType::f32 || dtype == DType::i64;
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
                    if (sorts_for(dtype, fold, s)) expect_same_folds(dtype, s, fold, flag, true);
                    expect_same_folds(dtype, s, fold, flag, false);
                }
            }
        }
    }
}

/// `m` terms, of which `frequent` consecutive ones go to one row.
Buffer with_frequent_row(std::int64_t m, std::int64_t frequent, std::int64_t n) {
    Buffer index = indices(m, n, false, 5);
    const std::int64_t first = (m - frequent) / 2;
    for (std::int64_t i = first; i < first + frequent; ++i) index.as<std::int64_t>()[i] = n / 2;
    return index;
}

void expect_same_sums(DType dtype, const IndexSpan& s, std::int64_t frequent) {
    const Buffer x = random_buffer(dtype, other_size(s), 1, 3, 40);
    const Buffer base = random_buffer(dtype, indexed_size(s), 3, 3, 40);
    const Buffer index = with_frequent_row(s.m, frequent, s.n);
    const DeviceBuffer device_x(x), device_base(base), device_index(index);
    for (const IndexFold fold : {IndexFold::sum, IndexFold::mean}) {
        if (fold == IndexFold::mean && !is_floating(dtype)) continue;
        for (const bool with_base : {true, false}) {
            Buffer y(dtype, indexed_size(s));
            const DeviceBuffer device_y(dtype, y.size());
            cpu::index_reduce(y, base, x, index, s, fold, with_base, {});
            cuda::index_reduce(device_y, device_base, device_x, device_index, s, fold, with_base,
                               {});
            ASSERT_TRUE(same(device_y.host(), y)) << frequent << " terms, base " << with_base;
        }
    }
}

// Its later pieces of 256 terms are summed apart. The ends of the pieces and of their slots are
// each met by some of these lengths.
TEST(CudaIndex, AddsUpAFrequentRowInPieces) {
    HALFTONE_NEEDS_CUDA();
    for (const std::int64_t frequent : {255, 256, 257, 511, 512, 513})
        for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::i64})
            expect_same_sums(dtype, {2, 9, frequent + 300, 3}, frequent);
    expect_same_sums(DType::f32, {1, 9, 10300, 2}, 10000);
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
