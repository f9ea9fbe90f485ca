#include "train/ring_feed.h"

#include <cstring>

#include "train/step_marks.h"

namespace engine {
namespace {

std::size_t input_bytes(const SampleShape& sample, std::int64_t size) {
    return static_cast<std::size_t>(size * sample.elements()) * sizeof(float);
}

std::size_t label_bytes(std::int64_t size) {
    return static_cast<std::size_t>(size) * sizeof(std::int64_t);
}

/// The first `size` rows, which lie together.
Tensor first_rows(const Tensor& x, std::int64_t size) {
    Tensor out = x.detach();
    out.impl()->shape[0] = size;
    out.impl()->is_view = false;
    return out;
}

}  // namespace

RingFeed::RingFeed(const Device& device, const SampleShape& sample)
    : device_(device), sample_(sample) {
    const DeviceScope scope(device_);
    copies_ = kernels::cuda::make_stream();
}

RingFeed::~RingFeed() {
    try {  // the slots' memory goes back to the compute stream: nothing may write it any more
        for (const Slot& slot : slots_) wait_until_passed(slot.copied);
    } catch (...) {  // the device has failed, and writes nothing
    }
    for (const Slot& slot : slots_) kernels::cuda::release_pinned(slot.pinned);
    kernels::cuda::release(copies_);
}

// Memory given back belongs to the compute stream, but the copy stream may still write it: so only
// once its last copy has passed.
void RingFeed::make_room(Slot& slot, std::int64_t size) {
    if (slot.batch.size >= size) return;
    kernels::cuda::release_pinned(slot.pinned);
    slot.pinned = nullptr;
    slot.bytes = input_bytes(sample_, size) + label_bytes(size);
    slot.pinned = kernels::cuda::allocate_pinned(slot.bytes);
    const UseScope use(MemoryUse::workspace);
    slot.batch = empty_batch(device_, sample_, size);
    // A block may come back from the compute stream's earlier work: its copies start after that.
    slot.used.record({});
}

DeviceBatch RingFeed::upload(const Batch& batch) {
    Slot& slot = slots_[next_];
    next_ = (next_ + 1) % slots_.size();
    // The pinned buffer was copied out of three batches ago: nearly always long since.
    wait_until_passed(slot.copied);
    const std::int64_t size = batch.size();
    make_room(slot, size);
    auto* labels = static_cast<std::byte*>(slot.pinned) + input_bytes(sample_, size);
    std::memcpy(slot.pinned, batch.pixels.data(), input_bytes(sample_, size));
    std::memcpy(labels, batch.labels.data(), label_bytes(size));
    slot.used.hold(copies_);
    kernels::cuda::copy_to_device(slot.batch.inputs.data(), slot.pinned, input_bytes(sample_, size),
                                  copies_);
    kernels::cuda::copy_to_device(slot.batch.labels.data(), labels, label_bytes(size), copies_);
    slot.copied.record(copies_);
    slot.copied.hold({});
    slot.batch.inputs.bump_version();
    return {first_rows(slot.batch.inputs, size), first_rows(slot.batch.labels, size), size};
}

void RingFeed::used(const DeviceBatch& batch) {
    for (Slot& slot : slots_) {
        if (slot.batch.size > 0 && slot.batch.inputs.data() == batch.inputs.data())
            slot.used.record({});
    }
}

}  // namespace engine
