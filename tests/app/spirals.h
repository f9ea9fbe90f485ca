#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.h"

namespace app {

/// Arguments of a command on the smallest run: points and an MLP.
inline std::vector<std::string> small(const std::string& command,
                                      const std::vector<std::string>& more) {
    std::vector<std::string> args = {command};
    for (const char* setting : {"dataset.kind=spirals", "model.kind=mlp", "batch_size=32",
                                "dataset.train_limit=640", "dataset.test_limit=128"}) {
        args.insert(args.end(), {"--set", setting});
    }
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

/// Arguments for spirals with JSON lines.
inline std::vector<std::string> spirals(const std::string& command,
                                        const std::vector<std::string>& more) {
    std::vector<std::string> args = small(command, more);
    args.insert(args.begin() + 1, "--json");
    return args;
}

/// One object a line.
inline std::vector<nlohmann::json> objects_of(const std::vector<std::string>& lines) {
    std::vector<nlohmann::json> out;
    for (const auto& line : lines) {
        out.push_back(nlohmann::json::parse(line, nullptr, false));
        EXPECT_TRUE(out.back().is_object()) << line;
    }
    return out;
}

/// The events of one kind, in order.
inline std::vector<nlohmann::json> events_of(const std::vector<std::string>& lines,
                                             const std::string& kind) {
    std::vector<nlohmann::json> out;
    for (auto& object : objects_of(lines)) {
        if (object.value("event", "") == kind) out.push_back(std::move(object));
    }
    return out;
}
inline std::vector<nlohmann::json> events_of(const Program& program, const std::string& kind) {
    return events_of(program.output(), kind);
}

}  // namespace app
