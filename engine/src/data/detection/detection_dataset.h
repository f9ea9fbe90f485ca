#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/detection/detection_sample.h"
#include "data/input_guide.h"

namespace engine {

/// Pictures with objects in them. A subclass says where pictures and objects come from.
class DetectionDataset : public Dataset {
public:
    const Schema& schema() const final { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const final { put(index, out, nullptr); }
    void read_augmented(std::int64_t index, const SampleFields& out,
                        const SamplePlace& place) const final {
        put(index, out, &place);
    }
    CanvasSize canvas(std::span<const std::int64_t> indices, const SamplePlace* first) const final;
    std::uint8_t shape_group(std::int64_t index) const final;
    bool decodes() const override { return true; }
    void describe(DatasetPreview& preview) const override;
    void guide(InputGuide& guide) const override;

protected:
    /// `schema`: of detection_schema(), with the canvas that any sample fits in.
    DetectionDataset(DetectionForm form, Schema schema)
        : form_(std::move(form)), schema_(std::move(schema)) {}

    virtual CanvasSize picture_size(std::int64_t index) const = 0;
    virtual Picture load(std::int64_t index) const = 0;

private:
    void put(std::int64_t index, const SampleFields& out, const SamplePlace* place) const;

    DetectionForm form_;
    Schema schema_;
};

/// A picture of a person as a sample for a model that was trained on samples of `trained`, which
/// has the sizes. It has no objects.
std::shared_ptr<const Dataset> make_scene(Picture picture, const InputGuide& trained);

/// Throws Error(settings) for settings that detection data do not have.
void check_detection_settings(const DatasetConfig& config);

}  // namespace engine
