#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <type_traits>

#include "engine/base/error.h"
#include "record/step_record.h"

namespace engine::test {

inline constexpr record_layout::OptionalColumns every_column{
    .exchange = true, .card = true, .cpu_meter = true, .recipe = true};

/// A row in which every field has a different value that depends on the step.
inline StepRecord row_of(std::int64_t step) {
    StepRecord record{};
    double field = 1;
    for_each_field([&](const char*, auto member) {
        using T = std::remove_reference_t<decltype(record.*member)>;
        record.*member = static_cast<T>(std::fmod(static_cast<double>(step) * 7 + field * 13, 251));
        ++field;
    });
    record.step = step;
    return record;
}

inline void expect_equal(const StepRecord& a, const StepRecord& b) {
    for_each_field([&](const char* name, auto member) {
        EXPECT_EQ(a.*member, b.*member) << name << " of step " << b.step;
    });
}

inline void append_steps(StepRecordWriter& writer, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) writer.append(row_of(writer.published() + 1));
}

/// The message of the Error(code) that `act` must throw.
inline std::string message_of(const std::function<void()>& act, ErrorCode code) {
    try {
        act();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

}  // namespace engine::test
