#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// How a run of another program describes itself. Texts are that program's own, for people to read;
/// none of them is a setting for this program.
struct RunOrigin {
    std::string program;            ///< "PyTorch 2.15.0"
    std::string model{};            ///< "ResNet"; may be empty, as the next two
    std::string dataset{};          ///< "CIFAR-10"
    std::string optimizer{};        ///< "SGD"
    std::int64_t epochs = 0;        ///< planned; 0: unknown
    std::int64_t shares_every = 1;  ///< steps from one with gradient figures to the next; 0: none
    std::vector<std::pair<std::string, std::string>> settings{};  ///< name and value

    bool operator==(const RunOrigin&) const = default;
};

}  // namespace engine
