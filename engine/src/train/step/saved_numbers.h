#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <type_traits>

#include "engine/base/error.h"

namespace engine {

/// Numbers by name, as a checkpoint's state.json holds them. Counts stay exact up to 2^53.
using SavedNumbers = std::map<std::string, double>;

/// The number of this name. Throws Error(data) if it is missing.
inline double saved_number(const SavedNumbers& saved, const std::string& name) {
    const auto found = saved.find(name);
    if (found == saved.end())
        throw Error(ErrorCode::data, msg("the saved state has no number \"{}\"", name));
    return found->second;
}

/// The whole number of this name. Throws Error(data) if it is missing, or is no whole number: a
/// file may have been changed, and a cast of NaN or 1e300 to an integer is undefined.
inline std::int64_t saved_count(const SavedNumbers& saved, const std::string& name) {
    constexpr double largest = 9007199254740992.0;  // 2^53
    const double number = saved_number(saved, name);
    if (number == std::floor(number) && std::abs(number) <= largest)
        return static_cast<std::int64_t>(number);
    throw Error(ErrorCode::data,
                msg("the saved state has no whole number \"{}\", it has {}", name, number));
}

/// Makes a visitor over the fields of a state that enters each into `out` under its name.
inline auto saving_into(SavedNumbers& out) {
    return [&out](const std::string& name, const auto& field) {
        out[name] = static_cast<double>(field);
    };
}

/// Makes a visitor over the fields of a state that sets each from `saved`.
inline auto loading_from(const SavedNumbers& saved) {
    return [&saved](const std::string& name, auto& field) {
        using Field = std::decay_t<decltype(field)>;
        if constexpr (std::is_integral_v<Field>)
            field = static_cast<Field>(saved_count(saved, name));
        else
            field = static_cast<Field>(saved_number(saved, name));
    };
}

}  // namespace engine
