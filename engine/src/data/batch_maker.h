#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/sample_order.h"

namespace engine {

/// Memory that starts on a cache line, as vector kernels like it.
template <typename T>
struct CacheLineAllocator {
    using value_type = T;
    static constexpr std::align_val_t alignment{64};

    CacheLineAllocator() = default;
    template <typename U>
    CacheLineAllocator(const CacheLineAllocator<U>&) {}  // NOLINT(google-explicit-constructor)

    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new(count * sizeof(T), alignment));
    }
    void deallocate(T* memory, std::size_t) { ::operator delete(memory, alignment); }
    bool operator==(const CacheLineAllocator&) const { return true; }
};

using PixelBuffer = std::vector<float, CacheLineAllocator<float>>;

/// One batch, ready for the model.
struct Batch {
    PixelBuffer pixels;                 ///< (size, H, W, C) dense; features: (size, F); or empty
    std::vector<std::int64_t> labels;   ///< (size)
    std::vector<std::int64_t> indices;  ///< (size): of the samples in the data set
    std::int64_t epoch = 0;             ///< from 0
    std::int64_t index_in_epoch = 0;    ///< from 0
    std::int64_t position = 0;          ///< samples of the epoch before this batch
    bool last_of_epoch = false;

    std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

struct LoaderOptions {
    std::int64_t batch_size = 128;
    std::int64_t seed = 1;
    bool shuffle = true;
    bool augment =
        false;  ///< random crop after padding by 4 zeros, and horizontal flip; images only
    bool normalize = true;    ///< (value - mean) / deviation by channel, after augmentation
    bool drop_last = false;   ///< leave out a last batch that is not full
    std::string order{};      ///< file of sample indices, one batch a line, in place of the shuffle
    std::int64_t epochs = 0;  ///< passes over the data; 0: without end
    bool indices_only = false;  ///< leave the pixels out: the device has the data
};

/// Makes any batch of any epoch: what is in it depends on the data set, the options, the epoch and
/// the index alone. One thread at a time.
///
/// Augmentation of the sample at position p of epoch e takes the four words of block p of
/// RandomStream(seed, StreamId::augment, e): vertical shift, horizontal shift, flip, and one
/// unused.
class BatchMaker {
public:
    /// Throws Error(data) for a bad order file and Error(settings) for options that do not fit the
    /// data.
    BatchMaker(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options);

    std::int64_t batches_per_epoch() const { return order_.batches_per_epoch(); }
    const Dataset& dataset() const { return *dataset_; }

    /// Fills `out`, reusing its buffers.
    void make(Batch& out, std::int64_t epoch, std::int64_t index);

private:
    void crop_and_flip(std::span<float> image, std::int64_t epoch, std::size_t position);
    void normalize(std::span<float> pixels) const;

    std::shared_ptr<const Dataset> dataset_;
    SampleShape shape_;
    LoaderOptions options_;
    SampleOrder order_;
    std::vector<float> mean_row_;  // a row of pixels (W * C) of means and of deviations
    std::vector<float> deviation_row_;
    std::vector<float> source_;  // an image before augmentation
};

}  // namespace engine
