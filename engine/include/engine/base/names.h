#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace engine {

/// Names of an enum's values, which count from 0: as files, --json and the command line have them.
template <typename E>
inline constexpr std::array<const char*, 0> enum_names = {};

template <typename E>
concept Named = !enum_names<E>.empty();

template <Named E>
constexpr const char* name(E value) noexcept {
    const auto at = static_cast<std::size_t>(value);
    return at < enum_names<E>.size() ? enum_names<E>[at] : "unknown";
}

/// Nothing if no value has this name.
template <Named E>
constexpr std::optional<E> value_of_name(std::string_view word) {
    const auto found = std::ranges::find(enum_names<E>, word);
    if (found == enum_names<E>.end()) return std::nullopt;
    return static_cast<E>(found - enum_names<E>.begin());
}

}  // namespace engine
