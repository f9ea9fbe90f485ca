#include <memory>

#include "kernels/sparse_rows.h"
#include "kernels/twins.h"

namespace kernels::test {
namespace {

/// Rows of one array that move: `rows` of them, `n` named by the index, some not there.
struct Moved {
    std::int64_t n, rows, width;
    Buffer whole, copy, index;

    Moved(DType dtype, std::int64_t count, std::int64_t all, std::int64_t length, unsigned seed)
        : n(count),
          rows(all),
          width(length),
          whole(awkward_buffer(dtype, all * length, seed)),
          copy(awkward_buffer(dtype, count * length, seed + 1)),
          index(DType::i64, count) {
        for (std::int64_t k = 0; k < n; ++k)
            index.set(k, k % 4 == 1   ? -1
                         : k % 4 == 3 ? static_cast<double>(rows + k)
                                      : static_cast<double>(2 * k));
    }
    std::int64_t bytes() const { return width * static_cast<std::int64_t>(size_of(whole.dtype())); }
    MovedRows on_cpu() {
        return {whole.as<char>(), copy.as<char>(), index.as<std::int64_t>(), n, rows, bytes()};
    }
};

TEST(MoveRows, FetchesTheRowsThatAreThereAndZeros) {
    for (const DType dtype : floating) {
        Moved moved(dtype, 4, 5, 3, 1);
        const Buffer before = moved.whole;
        cpu::fetch_rows(std::vector{moved.on_cpu()}, {});
        const auto bytes = static_cast<std::size_t>(moved.bytes());
        Buffer expected(dtype, 4 * 3);  // zeros
        std::memcpy(expected.as<char>(), moved.whole.as<char>(), bytes);
        std::memcpy(expected.as<char>() + 2 * bytes, moved.whole.as<char>() + 4 * bytes, bytes);
        EXPECT_EQ(moved.copy.bytes(), expected.bytes());
        EXPECT_EQ(moved.whole.bytes(), before.bytes());
    }
}

TEST(MoveRows, PutsRowsBackAndLeavesTheOthers) {
    for (const DType dtype : floating) {
        Moved moved(dtype, 4, 5, 3, 1);
        const auto bytes = static_cast<std::size_t>(moved.bytes());
        Buffer expected = moved.whole;
        std::memcpy(expected.as<char>(), moved.copy.as<char>(), bytes);
        std::memcpy(expected.as<char>() + 4 * bytes, moved.copy.as<char>() + 2 * bytes, bytes);
        cpu::put_rows(std::vector{moved.on_cpu()}, {});
        EXPECT_EQ(moved.whole.bytes(), expected.bytes());
    }
}

/// Copies on the device.
struct DeviceMoved {
    DeviceBuffer whole, copy, index;
    MovedRows rows;

    explicit DeviceMoved(Moved& moved)
        : whole(moved.whole), copy(moved.copy), index(moved.index), rows(moved.on_cpu()) {
        rows.whole = whole.as<char>();
        rows.copy = copy.as<char>();
        rows.index = index.as<std::int64_t>();
    }
};

TEST(CudaMoveRows, MovesAsTheCpuDoes) {
    HALFTONE_NEEDS_CUDA();
    // Rows of whole packs alone, then some that are none; more arrays than one launch takes.
    for (const std::int64_t odd : {0, 1}) {
        std::vector<Moved> here;
        std::vector<std::unique_ptr<DeviceMoved>> there;
        std::vector<MovedRows> on_cpu, on_cuda;
        for (unsigned i = 0; i < 70; ++i) {
            const DType dtype = floating[i % floating.size()];
            here.emplace_back(dtype, 3 + i % 40, 90, 8 * (1 + i % 3) + odd * (i % 2), i);
        }
        for (Moved& each : here) {
            there.push_back(std::make_unique<DeviceMoved>(each));
            on_cpu.push_back(each.on_cpu());
            on_cuda.push_back(there.back()->rows);
        }
        cpu::fetch_rows(on_cpu, {});
        cuda::fetch_rows(on_cuda, {});
        for (std::size_t i = 0; i < here.size(); ++i)
            ASSERT_EQ(there[i]->copy.host().bytes(), here[i].copy.bytes()) << i;
        for (std::size_t i = 0; i < here.size(); ++i) {
            here[i].copy = awkward_buffer(here[i].copy.dtype(), here[i].copy.size(), 9);
            on_cpu[i] = here[i].on_cpu();
            cuda::copy_to_device(there[i]->copy.as<char>(), here[i].copy.bytes().data(),
                                 here[i].copy.bytes().size(), {});
        }
        cpu::put_rows(on_cpu, {});
        cuda::put_rows(on_cuda, {});
        for (std::size_t i = 0; i < here.size(); ++i)
            ASSERT_EQ(there[i]->whole.host().bytes(), here[i].whole.bytes()) << i;
    }
}

}  // namespace
}  // namespace kernels::test
