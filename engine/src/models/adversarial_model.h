#pragma once

#include "models/model.h"

namespace engine {

/// Two networks that are trained against each other: a generator of images from random numbers, and
/// a discriminator of generated and real ones. Their parameters are named "generator." and
/// "discriminator.".
class AdversarialModel : public Model {
public:
    /// latent (N, width) -> images (N, C, H, W) in (-1, 1)
    virtual Tensor generate(const Tensor& latent) = 0;
    /// images (N, C, H, W) in [-1, 1] -> (N), the logit of being real
    virtual Tensor discriminate(const Tensor& images) = 0;

    TensorList forward(const TensorList& inputs) final { return {generate(inputs.front())}; }

protected:
    using Model::Model;
};

}  // namespace engine
