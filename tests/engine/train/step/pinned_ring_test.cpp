#include "train/step/pinned_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/cuda_device.h"
#include "kernels/device_error.h"
#include "simt/device.h"
#include "train/step/step_marks.h"

// The simulated driver can refuse pinned memory and delay copies.
namespace engine {
namespace {

constexpr std::size_t bytes = 64;

/// A ring whose batches are copied to separate places on the device.
class PinnedRings : public testing::Test {
protected:
    ~PinnedRings() override {
        kernels::simt::refuse_pinned_memory(0, 0);
        for (void* place : places_) kernels::cuda::release(place);
    }
    /// Submits batch number `value`: `size` bytes of that value.
    void give(PinnedRing& ring, int value, std::size_t size = bytes) {
        places_.push_back(kernels::cuda::allocate(size));
        std::byte* buffer = ring.next(size);
        std::memset(buffer, value, size);
        kernels::cuda::copy_to_device(places_.back(), buffer, size, {});
        ring.given({});
    }
    /// Expects that every batch arrived unchanged.
    void expect_all() const {
        for (std::size_t i = 0; i < places_.size(); ++i) {
            std::vector<unsigned char> arrived(bytes);
            kernels::cuda::copy_to_host(arrived.data(), places_[i], bytes, {});
            EXPECT_EQ(arrived, std::vector<unsigned char>(bytes, static_cast<unsigned char>(i)));
        }
    }
    std::vector<void*> places_;
};

TEST_F(PinnedRings, GoOnWithTheBuffersThatTheDriverGave) {
    for (const int given : {1, 2, 3, 5}) {
        SCOPED_TRACE(given);
        places_.clear();
        const std::int64_t before = kernels::simt::pinned_bytes();
        PinnedRing ring(4);  // eight, if they are available
        kernels::simt::refuse_pinned_memory(given, 1000);
        const std::int64_t waits = waits_for_events();
        for (int i = 0; i < 12; ++i) give(ring, i);
        EXPECT_EQ(kernels::simt::pinned_bytes() - before, given * static_cast<int>(bytes));
        EXPECT_GT(waits_for_events(), waits) << "for copies out of the oldest";
        expect_all();
        for (void* place : places_) kernels::cuda::release(place);
        places_.clear();
    }
}

TEST_F(PinnedRings, AskForNoMoreOnceTheyWereRefused) {
    PinnedRing ring(4);
    kernels::simt::refuse_pinned_memory(2, 1);
    const std::int64_t before = kernels::simt::pinned_bytes();
    for (int i = 0; i < 12; ++i) give(ring, i);
    EXPECT_EQ(kernels::simt::pinned_bytes() - before, 2 * static_cast<int>(bytes));
    expect_all();
}

TEST_F(PinnedRings, GiveSmallBuffersUpForALargerBatch) {
    PinnedRing ring(1);
    for (int i = 0; i < 3; ++i) give(ring, i);
    kernels::simt::refuse_pinned_memory(0, 2);
    const std::int64_t before = kernels::simt::pinned_bytes();
    for (int i = 3; i < 9; ++i) give(ring, i, 2 * bytes);
    EXPECT_EQ(kernels::simt::pinned_bytes() - before,
              2 * static_cast<int>(bytes) - 3 * static_cast<int>(bytes))
        << "one of the new size in place of three";
    expect_all();
}

TEST_F(PinnedRings, NeedOne) {
    PinnedRing ring(4);
    kernels::simt::refuse_pinned_memory(0, 1);
    EXPECT_THROW(ring.next(bytes), kernels::OutOfMemory);
    for (int i = 0; i < 12; ++i) give(ring, i);
    expect_all();
    kernels::simt::refuse_pinned_memory(0, 1000);
    EXPECT_THROW(ring.next(2 * bytes), kernels::OutOfMemory) << "not one of that size";
}

}  // namespace
}  // namespace engine
