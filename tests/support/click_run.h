#pragma once

#include "support/device_support.h"

namespace engine::test {

/// A small DLRM on generated clicks, whose tables get sparse gradients.
inline RunConfig small_click_run(const std::string& precision,
                                 const std::string& optimizer = "sparse-adam") {
    RunConfig config = small_run("mlp", precision);
    config.dataset.kind = "clicks-generated";
    config.dataset.options = {{"tables", std::int64_t{3}}, {"table_rows", std::int64_t{20}}};
    config.model.kind = "dlrm";
    config.model.options = {{"bottom", std::vector<std::int64_t>{8}},
                            {"top", std::vector<std::int64_t>{8}},
                            {"embedding", std::int64_t{4}}};
    config.optimizer.kind = optimizer;
    config.optimizer.options = {{"lr", 0.01}};
    if (optimizer == "sgd")
        config.optimizer.options = {{"lr", 0.1}, {"momentum", 0.0}, {"weight_decay", 0.0}};
    return config;
}

}  // namespace engine::test
