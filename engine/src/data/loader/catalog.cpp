#include "engine/settings/catalog.h"

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"

namespace engine {

#define HALFTONE_DATASET(name) DatasetDescriptor name##_descriptor();
#include "data/descriptors.inc"
#undef HALFTONE_DATASET

std::span<const DatasetDescriptor> datasets() {
    static const std::vector<DatasetDescriptor> list = [] {
        std::vector<DatasetDescriptor> all = {
#define HALFTONE_DATASET(name) name##_descriptor(),
#include "data/descriptors.inc"
#undef HALFTONE_DATASET
        };
        for (DatasetDescriptor& each : all) {
            const Schema schema = each.schema({});
            const FieldSpec& input = schema.fields.front();
            const FieldSpec* label = schema.find(FieldKind::label);
            each.input = name(input.kind);
            each.sample_shape = {input.shape.begin(), input.shape.end()};
            each.classes = label == nullptr ? 0 : label->cardinality;
        }
        return all;
    }();
    return list;
}

const DatasetDescriptor* find_dataset(std::string_view kind) { return find_kind(datasets(), kind); }

const DatasetDescriptor& dataset_descriptor(const std::string& kind) {
    if (const DatasetDescriptor* found = find_dataset(kind)) return *found;
    throw Error(ErrorCode::settings,
                msg("dataset.kind: {} is not a data set of this version", kind),
                msg("`halftone datasets` lists those that it reads."));
}

std::string speed_unit(const RunConfig& config) {
    const std::string unit = sample_unit(config);
    return unit == "rows" || unit == "tokens" ? unit + "/s" : "samples/s";
}

std::string sample_unit(const RunConfig& config) {
    const DatasetDescriptor* found = find_dataset(config.dataset.kind);
    return found != nullptr ? found->unit : "samples";
}

}  // namespace engine
