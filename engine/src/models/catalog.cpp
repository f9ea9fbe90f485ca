#include "engine/settings/catalog.h"

#include <algorithm>

#include "engine/base/error.h"
#include "models/model_descriptor.h"
#include "tensor/module_scope.h"

namespace engine {

#define HALFTONE_MODEL(name) ModelDescriptor name##_descriptor();
#include "models/descriptors.inc"
#undef HALFTONE_MODEL

std::span<const ModelDescriptor> model_descriptors() {
    static const std::vector<ModelDescriptor> list = {
#define HALFTONE_MODEL(name) name##_descriptor(),
#include "models/descriptors.inc"
#undef HALFTONE_MODEL
    };
    return list;
}

bool ModelDescriptor::takes(FieldKind field) const {
    return std::find(inputs.begin(), inputs.end(), field) != inputs.end();
}

const ModelDescriptor& model_descriptor(const std::string& kind) {
    const auto all = model_descriptors();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const ModelDescriptor& one) { return one.kind == kind; });
    if (found != all.end()) return *found;
    throw Error(ErrorCode::settings, msg("There is no model called {}.", kind));
}

std::span<const ModelInfo> models() {
    static const std::vector<ModelInfo> list = [] {
        std::vector<ModelInfo> infos;
        for (const ModelDescriptor& from : model_descriptors()) {
            ModelInfo info{from.kind,      from.title, from.summary,
                           from.options,   {},         from.second_derivative,
                           from.has_blocks};
            for (const FieldKind kind : from.inputs) info.inputs.emplace_back(name(kind));
            infos.push_back(std::move(info));
        }
        return infos;
    }();
    return list;
}

std::unique_ptr<Model> make_model(const ModelConfig& config, const ModelShape& shape,
                                  std::optional<std::int64_t> seed, const Device& device) {
    const ModelDescriptor& kind = model_descriptor(config.kind);
    const TypedOptions options(config.options, kind.options);
    const ModuleNames modules;
    std::unique_ptr<Model> model = kind.make({options, shape, seed, device});
    model->modules.assign(modules.names().begin(), modules.names().end());
    return model;
}

}  // namespace engine
