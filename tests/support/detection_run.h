#pragma once

#include "engine/settings/run_config.h"

namespace engine::test {

/// Mask R-CNN on eight drawn scenes of 64 pixels: a step takes tens of milliseconds.
inline RunConfig small_detection_run(const std::string& precision) {
    RunConfig config;
    config.dataset.kind = "shapes";
    config.dataset.train_limit = 8;
    config.dataset.test_limit = 4;
    config.dataset.options = {{"image_size", std::int64_t{64}}};
    config.model.kind = "maskrcnn-resnet18";
    config.model.options = {{"pyramid_channels", std::int64_t{16}},
                            {"hidden", std::int64_t{32}},
                            {"mask_layers", std::vector<std::int64_t>{16}},
                            {"proposals_before", std::vector<std::int64_t>{60, 40}},
                            {"proposals_after", std::vector<std::int64_t>{40, 30}},
                            {"anchors_sampled", std::int64_t{32}},
                            {"rois_sampled", std::int64_t{16}}};
    config.optimizer.kind = "adamw";
    config.optimizer.options = {{"lr", 1e-3}};
    config.precision.preset = precision;
    config.batch_size = 2;
    config.epochs = 2;
    config.seed = 3;
    config.threads = 1;  // two would wait for each other at every small product
    config.device = "cpu";
    return completed(config);
}

}  // namespace engine::test
