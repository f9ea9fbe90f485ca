#include "tasks/latent.h"

#include "tensor/philox.h"

namespace engine {

void DrawLatent::apply(const SampleFields& sample, std::size_t field,
                       const SamplePlace& place) const {
    // Substream 0 is the evaluation's.
    const auto substream = training_ ? static_cast<std::uint32_t>(place.epoch) + 1 : 0;
    const RandomStream stream(place.seed, StreamId::task, substream);
    const std::span<float> values = sample.f32(field);
    const std::uint64_t first = place.position * values.size();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = stream.normal(first + i);
}

FieldSpec latent_field(std::int64_t width, bool training) {
    return {
        .name = "latent", .shape = {width}, .transforms = {std::make_shared<DrawLatent>(training)}};
}

}  // namespace engine
