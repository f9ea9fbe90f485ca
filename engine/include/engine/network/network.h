#pragma once

#include <optional>
#include <string>

#include "engine/base/message.h"

/// Networks that a user writes in the network notation (resources/handbook/write-a-network.md).
namespace engine {

/// A place in a text: lines and columns, which count characters, from 1.
struct TextPlace {
    int line = 1;
    int column = 1;
    int length = 1;  ///< characters

    friend bool operator==(const TextPlace&, const TextPlace&) = default;
};

/// A fault at a place of a network's text.
struct NetworkFault {
    TextPlace place{};
    Message text{};
    std::optional<std::string> replacement{};  ///< text for `place` that removes the fault
    bool note = false;                         ///< the text can be used all the same
};

}  // namespace engine
