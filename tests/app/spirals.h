#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "program.h"

namespace app {

/// Arguments of a command on the smallest run (points and an MLP), with JSON lines.
inline std::vector<std::string> spirals(const std::string& command,
                                        const std::vector<std::string>& more) {
    std::vector<std::string> args = {command, "--json"};
    for (const char* setting : {"dataset.kind=spirals", "model.kind=mlp", "batch_size=32",
                                "dataset.train_limit=640", "dataset.test_limit=128"}) {
        args.insert(args.end(), {"--set", setting});
    }
    args.insert(args.end(), more.begin(), more.end());
    return args;
}

/// The program's events of one kind, in order.
inline std::vector<nlohmann::json> events_of(const Program& program, const std::string& kind) {
    std::vector<nlohmann::json> out;
    for (const auto& line : program.output()) {
        nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
        EXPECT_TRUE(object.is_object()) << line;
        if (object.value("event", "") == kind) out.push_back(std::move(object));
    }
    return out;
}

}  // namespace app
