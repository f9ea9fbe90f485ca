#pragma once

#include <memory>
#include <string>

#include "models/model_descriptor.h"

namespace engine::test {

/// A model as the settings name it. Without a seed no weights are drawn, which suffices for names
/// and shapes.
inline std::unique_ptr<Model> made_model(const std::string& kind, const Options& options,
                                         const ModelShape& shape,
                                         std::optional<std::int64_t> seed = 1,
                                         const Device& device = Device{}) {
    ModelConfig config;
    config.kind = kind;
    config.options = options;
    return make_model(config, shape, seed, device);
}

/// Pictures (C, H, W) and their classes.
inline ModelShape pictures(const Shape& picture, std::int64_t classes) {
    return {{{.name = "image", .kind = FieldKind::image, .shape = picture}}, classes};
}

/// Windows of a text of so many words.
inline ModelShape windows(std::int64_t window, std::int64_t words) {
    return {{{.name = "tokens",
              .kind = FieldKind::tokens,
              .dtype = DType::i64,
              .shape = {window},
              .cardinality = words,
              .windowed = true}},
            words};
}

/// An adversarial pair for images (C, S, S).
inline std::unique_ptr<Model> made_dcgan(const Shape& image, std::int64_t latent = 100,
                                         std::int64_t channels = 64) {
    return made_model("dcgan", {{"latent", latent}, {"channels", channels}},
                      {.inputs = {{.name = "latent", .shape = {latent}}}, .output = image});
}

}  // namespace engine::test
