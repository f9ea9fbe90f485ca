#include "tasks/image_range.h"

namespace engine {

TaskSchemas image_schemas(const TaskSetup& setup, PixelRange range) {
    RunConfig config = setup.config;
    Schema data = setup.data;
    config.dataset.normalize = range.black != 0 || range.white != 1;
    // (value - mean) / deviation is black at 0 and white at 1.
    const float deviation = 1 / (range.white - range.black);
    const auto channels = static_cast<std::size_t>(data.find(FieldKind::image)->shape[0]);
    data.fields[data.index(data.find(FieldKind::image)->name)].normalization = {
        .mean = std::vector<float>(channels, -range.black * deviation),
        .deviation = std::vector<float>(channels, deviation)};
    return TaskSchemas({config, data});
}

}  // namespace engine
