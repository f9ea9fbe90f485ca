#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "engine/network/network.h"
#include "engine/settings/run_config.h"
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

/// Makes these the settings of ResNet-18 with the CIFAR stem on the pictures: layers and fused kernels of the
/// built-in model, and an eighth of its channels, since its convolutions are most of a test's time.
inline void use_narrow_resnet(RunConfig& config, const FewPictures& pictures) {
    config.model = {};
    config.model.kind = "file";
    config.model.options = {{"width", std::int64_t{8}}};
    std::istringstream lines(network_template("resnet18"));
    for (std::string line; std::getline(lines, line);) config.model.network.all.push_back(line);
    config.dataset.kind = "cifar10";
    config.dataset.path = {pictures.path()};
    config.batch_size = 2;
}

}  // namespace engine::test
