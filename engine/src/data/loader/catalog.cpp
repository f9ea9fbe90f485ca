#include "engine/settings/catalog.h"

#include <algorithm>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"

namespace engine {

#define HALFTONE_DATASET(name) DatasetDescriptor name##_descriptor();
#include "data/descriptors.inc"
#undef HALFTONE_DATASET

std::span<const DatasetDescriptor> dataset_descriptors() {
    static const std::vector<DatasetDescriptor> list = {
#define HALFTONE_DATASET(name) name##_descriptor(),
#include "data/descriptors.inc"
#undef HALFTONE_DATASET
    };
    return list;
}

const DatasetDescriptor& dataset_descriptor(const std::string& kind) {
    const auto all = dataset_descriptors();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const DatasetDescriptor& one) { return one.kind == kind; });
    if (found != all.end()) return *found;
    throw Error(ErrorCode::settings,
                msg("dataset.kind: {} is not a data set of this version", kind),
                msg("`halftone datasets` lists those that it reads."));
}

namespace {

DatasetInfo make_info(const DatasetDescriptor& from) {
    const Schema schema = from.schema({});
    const FieldSpec& input = schema.fields.front();
    const FieldSpec* label = schema.find(FieldKind::label);
    return {.kind = from.kind,
            .title = from.title,
            .summary = from.summary,
            .needs = from.needs,
            .files = from.files,
            .page = from.page,
            .unit = from.unit,
            .input = name(input.kind),
            .sample_shape = {input.shape.begin(), input.shape.end()},
            .classes = label == nullptr ? 0 : label->cardinality,
            .augments = from.augments,
            .files_decide = from.files_decide,
            .options = from.options};
}

}  // namespace

std::span<const DatasetInfo> datasets() {
    static const std::vector<DatasetInfo> list = [] {
        std::vector<DatasetInfo> infos;
        for (const DatasetDescriptor& descriptor : dataset_descriptors())
            infos.push_back(make_info(descriptor));
        return infos;
    }();
    return list;
}

const DatasetInfo* find_dataset(std::string_view kind) {
    const auto all = datasets();
    const auto found = std::ranges::find(all, kind, &DatasetInfo::kind);
    return found == all.end() ? nullptr : &*found;
}

std::string speed_unit(const RunConfig& config) {
    const std::string unit = sample_unit(config);
    return unit == "rows" || unit == "tokens" ? unit + "/s" : "samples/s";
}

std::string sample_unit(const RunConfig& config) {
    const DatasetInfo* info = find_dataset(config.dataset.kind);
    return info != nullptr ? info->unit : "samples";
}

}  // namespace engine
