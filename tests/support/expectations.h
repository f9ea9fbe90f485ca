#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "engine/base/error.h"

namespace engine {

/// Expects that each element is equal, or NaN in both.
inline void expect_same(const std::vector<double>& got, const std::vector<double>& wanted) {
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const bool same = got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]));
        EXPECT_TRUE(same) << "element " << i << " is " << got[i] << ", not " << wanted[i];
    }
}

/// The message of f's error, which must have this code; empty if there is none.
template <typename F>
std::string error_text(ErrorCode code, const F& f) {
    try {
        f();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    return {};
}

/// The message of f's error, which must have this code.
template <typename F>
std::string message_of(ErrorCode code, const F& f) {
    const std::string text = error_text(code, f);
    EXPECT_NE(text, "") << "no error";
    return text;
}

}  // namespace engine
