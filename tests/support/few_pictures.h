#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temp_folder.h"

namespace engine::test {

/// A few pictures of 3 x 32 x 32 in CIFAR-10's files, for training and for testing.
class FewPictures {
public:
    explicit FewPictures(std::int64_t count) {
        constexpr std::size_t record = 1 + 3 * 32 * 32;
        std::vector<std::uint8_t> bytes(static_cast<std::size_t>(count) * record);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::uint8_t>(i % record == 0 ? i / record % 10 : i * 31 % 251);
        folder_.write("data_batch_1.bin", bytes);
        folder_.write("test_batch.bin", bytes);
    }
    std::string path() const { return folder_.str(); }

private:
    test_support::TempFolder folder_;
};

}  // namespace engine::test
