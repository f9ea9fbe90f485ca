#include "engine/settings/catalog.h"

#include "engine/base/error.h"
#include "models/model_descriptor.h"
#include "tensor/module_scope.h"

namespace engine {

#define HALFTONE_MODEL(name) ModelDescriptor name##_descriptor();
#include "models/descriptors.inc"
#undef HALFTONE_MODEL

std::span<const ModelDescriptor> models() {
    static const std::vector<ModelDescriptor> list = {
#define HALFTONE_MODEL(name) name##_descriptor(),
#include "models/descriptors.inc"
#undef HALFTONE_MODEL
    };
    return list;
}

bool ModelDescriptor::takes(FieldKind field) const {
    return std::ranges::find(inputs, field) != inputs.end();
}

bool ModelDescriptor::takes(const DatasetDescriptor& data) const {
    return std::ranges::any_of(inputs, [&](FieldKind field) { return name(field) == data.input; });
}

std::shared_ptr<const ModelDescriptor> find_model(const ModelConfig& model) {
    const ModelDescriptor* kind = find_kind(models(), model.kind);
    if (kind != nullptr && kind->from_text && !model.network.empty()) {
        const auto text = read_network(model.network);
        return {text, &text->model};
    }
    // Entries of the catalog live as long as the program.
    return {std::shared_ptr<const ModelDescriptor>(), kind};
}

std::shared_ptr<const ModelDescriptor> model_descriptor(const ModelConfig& model) {
    if (auto found = find_model(model)) return found;
    throw Error(ErrorCode::settings, msg("There is no model called {}.", model.kind));
}

std::vector<std::string> input_names(const ModelDescriptor& model) {
    std::vector<std::string> names;
    for (const FieldKind kind : model.inputs) names.emplace_back(name(kind));
    return names;
}

std::unique_ptr<Model> make_model(const ModelConfig& config, const ModelShape& shape,
                                  std::optional<std::int64_t> seed, const Device& device) {
    const std::shared_ptr<const ModelDescriptor> kind = model_descriptor(config);
    const TypedOptions options(config.options, kind->options);
    const ModuleNames modules;
    std::unique_ptr<Model> model = kind->make({options, shape, seed, device, config});
    model->modules.assign(modules.names().begin(), modules.names().end());
    return model;
}

std::int64_t count_parameters(const ModelConfig& config, const ModelShape& shape) {
    const std::shared_ptr<const ModelDescriptor> kind = model_descriptor(config);
    if (kind->count == nullptr)
        return make_model(config, shape, std::nullopt, Device{})->parameter_count();
    const TypedOptions options(config.options, kind->options);
    return kind->count({options, shape, std::nullopt, Device{}, config});
}

}  // namespace engine
