#pragma once

#include "data/schema.h"

namespace engine {

/// Fills a field with standard normal numbers of the run's seed: in training different ones for
/// each sample of each epoch, in evaluation always the same.
class DrawLatent final : public SampleTransform {
public:
    explicit DrawLatent(bool training) : training_(training) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override;

private:
    bool training_;
};

/// The field "latent" of so many numbers.
FieldSpec latent_field(std::int64_t width, bool training);

}  // namespace engine
