#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "data/image/image_dataset.h"
#include "data/loader/batch.h"
#include "kernels/cuda_device.h"
#include "kernels/prepare_images.h"
#include "train/step/batch_feed.h"
#include "train/step/pinned_ring.h"

namespace engine {

/// Makes batches of images out of bytes on a GPU: cropped and flipped, then normalised, or less of
/// it, with the numbers of Collator bit for bit.
class ImagePreparer {
public:
    /// Whether it can make batches of this schema: images and labels alone, without other
    /// transforms.
    static bool can_make(const Schema& schema);

    /// `schema`: that of the batches; can_make() must hold. `seed`: of the loader's sampler.
    ImagePreparer(const Device& device, const Schema& schema, std::int64_t seed);

    /// Where the bytes lie on the device. Null indices: row i is image i. Null labels: none are
    /// written.
    struct Source {
        const std::uint8_t* pixels;
        const std::uint8_t* labels;
        kernels::ConstArray indices;
    };
    /// Writes the images to `images` (rows, C, H, W), channels last or with padded pixels, in f32
    /// or rounded to its 16-bit type, and the labels of the source to `labels`, i64. `place`: of
    /// the batch in the run.
    void prepare(const Tensor& images, kernels::Array labels, const Source& from,
                 const Batch& place) const;

private:
    Device device_;
    Shape image_;  // (C, H, W)
    std::int64_t seed_;
    bool augment_ = false;
    bool normalize_ = false;
    Tensor mean_, deviation_;
};

/// Batches through pinned buffers and a copy stream, so that the copy of the next batch overlaps
/// the step that computes. A place on the device is overwritten once the step that used it has
/// passed it; the copy stream waits for that, not the host, which writes to a ring of pinned
/// buffers. Images may travel as bytes, a quarter of their values in f32; the device makes of them
/// what the schema asks for.
class RingFeed final : public BatchFeed {
public:
    /// `image_seed`: that of the loader's sampler, if images are to travel as bytes; the schema
    /// must be one that ImagePreparer::can_make(). None: the batches have the schema's fields.
    RingFeed(const Device& device, const Schema& schema, const FeedDepth& depth = {},
             std::optional<std::int64_t> image_seed = {});
    ~RingFeed() override;
    RingFeed(const RingFeed&) = delete;
    RingFeed& operator=(const RingFeed&) = delete;

    bool image_bytes() const override { return preparer_.has_value(); }
    DeviceBatch upload(const Batch& batch) override;
    void fill(const Batch& batch, const DeviceBatch& to) override;
    void used(const DeviceBatch& batch) override;

private:
    struct Place {
        TensorList blocks;  // bytes of each field, of the largest batch so far
        kernels::cuda::Event copied, used;
    };
    Place& next_place(const Batch& batch);
    DeviceBatch copied(const Batch& batch);
    bool has_image_bytes(const DeviceBatch& batch) const;
    void prepare(const DeviceBatch& from, const Tensor& images, const Batch& batch) const;

    Device device_;
    Schema schema_;
    std::optional<ImagePreparer> preparer_;  // none: images travel as they are wanted
    kernels::Stream copies_;
    PinnedRing pinned_;  // the fields one after the other
    std::vector<std::unique_ptr<Place>> places_;
    std::size_t next_place_ = 0;
};

/// A data set of images that lies on the device as bytes; a batch is gathered, augmented and
/// normalised there, with the numbers of Collator bit for bit. Only indices travel.
class ResidentImages final : public BatchFeed {
public:
    /// `schema`: one that ImagePreparer::can_make().
    ResidentImages(const Device& device, const std::shared_ptr<const ImageDataset>& images,
                   const Schema& schema, const LoaderOptions& options, const FeedDepth& depth = {});
    ResidentImages(const ResidentImages&) = delete;
    ResidentImages& operator=(const ResidentImages&) = delete;

    bool indices_only() const override { return true; }
    DeviceBatch upload(const Batch& batch) override;
    void fill(const Batch& batch, const DeviceBatch& to) override;

private:
    Device device_;
    Schema schema_;
    ImagePreparer preparer_;
    Tensor pixels_, labels_;
    PinnedRing pinned_;  // indices
};

}  // namespace engine
