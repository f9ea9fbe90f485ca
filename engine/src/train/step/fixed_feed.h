#pragma once

#include <memory>

#include "train/step/batch_feed.h"

namespace engine {

/// One batch that lies on the device, again and again.
class FixedFeed final : public BatchFeed {
public:
    FixedFeed(const Device& device, const Schema& schema, const Batch& batch)
        : ring_(make_ring_feed(device, schema)) {
        const DeviceScope scope(device);
        batch_ = ring_->upload(batch);
    }
    DeviceBatch upload(const Batch&) override { return batch_; }

private:
    std::unique_ptr<BatchFeed> ring_;
    DeviceBatch batch_;
};

}  // namespace engine
