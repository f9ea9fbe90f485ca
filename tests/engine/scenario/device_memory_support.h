#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "kernels/cuda_libraries.h"
#include "simt/device.h"
#include "simt/libraries.h"
#include "support/device_support.h"
#include "tensor/memory/memory.h"

// Shared by tests of a simulated device's memory.
namespace engine::test {

/// Expects that no device memory is allocated before a test or after it.
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

/// A trainer and its feed, both in the trainer's accounting.
struct AccountedRun {
    explicit AccountedRun(const RunConfig& config)
        : data(open_dataset(config.dataset, config.seed).train),
          trainer(config, cuda, data.data->schema(), 100),
          collator(data, trainer.task().schema(true), loader_options(config)) {
        const AccountingScope accounting(trainer.accounting());
        feed = make_feed(cuda, data, trainer.task().schema(true), loader_options(config));
    }
    StepRecord step(std::int64_t index, std::int64_t rows = 16) {
        collator.make(batch[0], 0, index);
        if (rows < batch[0].rows()) truncate(batch[0], rows);
        return trainer.step(batch, *feed).row;
    }
    std::vector<std::vector<double>> weights() {
        std::vector<std::vector<double>> out;
        for (const auto& parameter : trainer.model().parameters())
            out.push_back(parameter.tensor.values());
        return out;
    }

    DataPart data;
    Trainer trainer;
    Collator collator;
    std::unique_ptr<BatchFeed> feed;
    std::vector<Batch> batch = std::vector<Batch>(1);
};

}  // namespace engine::test
