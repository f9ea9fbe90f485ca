#include <map>

#include "kernels/cuda_device.h"
#include "kernels/sort.h"
#include "kernels/sparse_rows.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// Entries of a matrix of 3 x rows. Some places have none.
struct Entries {
    Buffer places, keys, order, values;
    std::int64_t n, width;

    Entries(std::int64_t count, std::int64_t rows, std::int64_t w, DType dtype, unsigned seed)
        : places(DType::i64, 2 * count),
          keys(DType::i64, count),
          order(DType::i64, count),
          values(random_buffer(dtype, count * w, seed)),
          n(count),
          width(w) {
        std::mt19937 engine(seed);
        for (std::int64_t i = 0; i < n; ++i) {
            const bool hole = engine() % 7 == 0;
            const auto first = static_cast<double>(engine() % 3);
            const auto second = static_cast<double>(engine() % static_cast<unsigned>(rows));
            places.set(i, hole ? -1 : first);
            places.set(n + i, hole ? -1 : second);
            keys.set(i, hole ? -1 : first * static_cast<double>(rows) + second);
        }
        cpu::sort_order(order, keys, 1, n, 1, false, {});
    }
    SparseEntries entries() {
        return {places.as<std::int64_t>(), keys.as<std::int64_t>(), order.as<std::int64_t>(), 2, n};
    }
};

TEST(CoalesceRows, AddsUpTheEntriesOfAPlaceInTheirOrder) {
    for (const DType dtype : floating) {
        for (const std::int64_t count : {1, 2, 40, 700}) {
            Entries given(count, 20, 67, dtype, 5);
            Buffer places = poisoned(DType::i64, 2 * count), sums = poisoned(dtype, count * 67);
            cpu::coalesce_rows(places, sums, given.entries(), given.values, {});
            std::map<double, std::vector<std::int64_t>> by_key;
            for (std::int64_t i = 0; i < count; ++i)
                if (given.keys.get(i) >= 0) by_key[given.keys.get(i)].push_back(i);
            std::size_t found = 0;
            double before = -1;
            for (std::int64_t k = 0; k < count; ++k) {
                if (places.get(k) < 0) {
                    ASSERT_EQ(places.get(count + k), -1);
                    for (std::int64_t c = 0; c < 67; ++c) ASSERT_EQ(sums.get(k * 67 + c), 0);
                    continue;
                }
                const double key = places.get(k) * 20 + places.get(count + k);
                ASSERT_GT(key, before) << "places come in order, each once";
                before = key;
                ++found;
                for (std::int64_t c = 0; c < 67; ++c) {
                    double sum = 0;  // fewer than 256 terms: one piece
                    for (const std::int64_t i : by_key.at(key)) {
                        sum += given.values.get(i * 67 + c);
                        if (dtype != DType::f64) sum = static_cast<double>(static_cast<float>(sum));
                    }
                    Buffer rounded(dtype, {sum});
                    ASSERT_EQ(sums.get(k * 67 + c), rounded.get(0));
                }
            }
            EXPECT_EQ(found, by_key.size());
        }
    }
}

TEST(CudaCoalesceRows, AddsUpAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    for (const DType dtype : floating) {
        for (const std::int64_t count : {1, 33, 900, 10000}) {
            for (const std::int64_t width : {1, 32, 67}) {
                if (count == 10000 && width != 1) continue;  // it shows no more, and takes long
                // With few rows, the sums of a row consist of more than one piece.
                Entries given(count, 1, width, dtype, 6);
                Buffer places = poisoned(DType::i64, 2 * count);
                Buffer sums = poisoned(dtype, count * width);
                cpu::coalesce_rows(places, sums, given.entries(), given.values, {});
                const DeviceBuffer where(DType::i64, 2 * count), y(dtype, count * width);
                const DeviceBuffer from(given.places), keys(given.keys), order(given.order);
                cuda::coalesce_rows(where, y,
                                    {from.as<std::int64_t>(), keys.as<std::int64_t>(),
                                     order.as<std::int64_t>(), 2, count},
                                    DeviceBuffer(given.values), {});
                EXPECT_TRUE(same(where.host(), places));
                EXPECT_TRUE(same(y.host(), sums));
            }
        }
    }
}

}  // namespace
}  // namespace kernels::test
