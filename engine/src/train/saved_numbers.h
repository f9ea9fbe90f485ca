#pragma once

#include <map>
#include <string>
#include <utility>

#include "engine/error.h"

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

/// For a visitor over the fields of a state: enters each into `out` under its name.
inline auto saving_into(SavedNumbers& out) {
    return [&out](const std::string& name, const auto& field) {
        out[name] = static_cast<double>(field);
    };
}

/// For a visitor over the fields of a state: sets each from `saved`.
inline auto loading_from(const SavedNumbers& saved) {
    return [&saved](const std::string& name, auto& field) {
        field = static_cast<std::decay_t<decltype(field)>>(saved_number(saved, name));
    };
}

}  // namespace engine
