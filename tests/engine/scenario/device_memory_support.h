#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/memory.h"
#include "support/device_support.h"
#include "kernels/cuda_libraries.h"
#include "simt/device.h"
#include "simt/libraries.h"

// What tests of a simulated device's memory share.
namespace engine::test {

/// Nothing of the device is taken before a test nor after it.
class DeviceMemory : public testing::Test {
protected:
    DeviceMemory() { give_all_back(); }
    ~DeviceMemory() override {
        kernels::simt::configure(kernels::simt::DeviceSettings{});
        kernels::simt::configure(kernels::simt::LibrarySettings{});
        give_all_back();
    }
    static void give_all_back() {
        kernels::cuda::release_workspaces();
        release_cached_memory();
        EXPECT_EQ(kernels::simt::device_bytes(), 0);
    }
};

/// A trainer and its feed, all in the trainer's books.
struct BookedRun {
    explicit BookedRun(const RunConfig& config)
        : data(open_dataset(config.dataset, config.seed).train),
          trainer(config, cuda, data->shape(), data->classes(), 100),
          maker(data, {.batch_size = config.batch_size, .seed = config.seed}) {
        const BooksScope books(trainer.books());
        feed = make_feed(cuda, data, {.batch_size = config.batch_size, .seed = config.seed});
    }
    StepRecord step(std::int64_t index, std::size_t size = 16) {
        maker.make(batch[0], 0, index);
        batch[0].labels.resize(size);
        batch[0].indices.resize(size);
        return trainer.step(batch, *feed).row;
    }
    std::vector<std::vector<double>> weights() {
        std::vector<std::vector<double>> out;
        for (const auto& parameter : trainer.model().parameters())
            out.push_back(parameter.tensor.values());
        return out;
    }

    std::shared_ptr<const Dataset> data;
    Trainer trainer;
    BatchMaker maker;
    std::unique_ptr<BatchFeed> feed;
    std::vector<Batch> batch = std::vector<Batch>(1);
};

}  // namespace engine::test
