#include "engine/settings/catalog.h"

#include <map>

#include "engine/base/error.h"
#include "engine/base/plain_text.h"
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
        const auto text = read_network(model.network, model.kind);
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

namespace {

/// The module of the layer whose weight is another one's, such as the table of words, or else of
/// the last layer with a weight.
std::vector<std::string> find_heads(const Model& model) {
    constexpr std::string_view weight = ".weight";
    std::string name;
    for (const Parameter& each : model.parameters())
        if (each.tensor.rank() >= 2) name = each.name;
    for (const TensorAlias& each : model.aliases())
        if (each.name.ends_with(weight)) name = each.name;
    if (!name.ends_with(weight)) return {};
    return {name.substr(0, name.size() - weight.size())};
}

/// Modules with a number for a name, in its order, that lie in the same one.
std::vector<std::string> find_blocks(const Model& model) {
    std::map<std::string, std::map<int, std::string>> found;
    for (const std::string& module : model.modules) {
        const auto dot = module.rfind('.');
        if (dot == std::string::npos) continue;
        if (const auto number = to_number<int>(module.substr(dot + 1)))
            found[module.substr(0, dot)][*number] = module;
    }
    std::vector<std::string> out;
    for (const auto& [around, blocks] : found) {
        if (blocks.size() <= out.size()) continue;
        out.clear();
        for (const auto& [number, module] : blocks) out.push_back(module);
    }
    return out;
}

}  // namespace

std::unique_ptr<Model> make_model(const ModelConfig& config, const ModelShape& shape,
                                  std::optional<std::int64_t> seed, const Device& device) {
    const std::shared_ptr<const ModelDescriptor> kind = model_descriptor(config);
    const TypedOptions options(config.options, kind->options);
    const ModuleNames modules;
    std::unique_ptr<Model> model = kind->make({options, shape, seed, device, config});
    model->modules.assign(modules.names().begin(), modules.names().end());
    if (model->heads.empty()) model->heads = find_heads(*model);
    if (kind->has_blocks && !kind->from_text) model->blocks = find_blocks(*model);
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
