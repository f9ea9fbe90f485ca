#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/names.h"
#include "tensor/dims.h"
#include "tensor/dtype.h"

namespace engine {

/// Kind of the values of a field. Models declare which of the input kinds they take.
enum class FieldKind {
    image,     ///< f32 (C, H, W), in memory H, W, C; in [0, 1] before it is normalised; as u8 (a
               ///< loader's batches alone) 255 times that
    features,  ///< f32 (F)
    tokens,    ///< i64 (T) below FieldSpec::cardinality: a window of a text
    indices,   ///< i64 (K) below FieldSpec::cardinality: rows of an embedding table
    label,     ///< i64 (): a class below FieldSpec::cardinality
    value,     ///< f32 (K): numbers to predict
    boxes,     ///< f32 (capacity, 4): left, top, right, bottom, in pixels of the image
    mask,      ///< bool (capacity): which rows of a masked ragged field are filled
    offsets,   ///< i64 (batch + 1): where each sample's rows begin in a packed ragged field
    other,     ///< known to the task alone
};
template <>
inline constexpr std::array enum_names<FieldKind> = {
    "image", "features", "tokens", "indices", "label", "value", "boxes", "mask", "offsets", "other"};

/// How a field with a varying number of rows keeps a fixed shape, so that a step can be captured.
/// FieldSpec::shape[0] is the largest number of rows of a sample (its capacity).
enum class Ragged {
    no,
    masked,  ///< (batch, capacity, ...), zeros behind each sample's rows, with a field `NAME.mask`
    packed,  ///< (batch * capacity, ...), all rows in sequence, then zeros, with `NAME.offsets`
};
template <>
inline constexpr std::array enum_names<Ragged> = {"no", "masked", "packed"};

/// Per channel, feature or target, over the training part: batches hold (value - mean) / deviation.
struct Normalization {
    std::vector<float> mean;
    std::vector<float> deviation;
    bool empty() const { return mean.empty(); }
};

class SampleFields;

/// Height and width of the images of a batch, in which smaller pictures are padded.
struct CanvasSize {
    std::int64_t height = 0;
    std::int64_t width = 0;
    bool operator==(const CanvasSize&) const = default;
};

/// Where a sample stands in a run: what random transforms are drawn from.
struct SamplePlace {
    std::int64_t seed = 1;
    std::int64_t epoch = 0;
    std::uint64_t position = 0;  ///< of the sample within its epoch
};

/// Changes a field of a sample after it was read: normalise, crop, mask. It may read and write the
/// sample's other fields. Stateless, so any thread may call it.
class SampleTransform {
public:
    virtual ~SampleTransform() = default;
    virtual void apply(const SampleFields& sample, std::size_t field,
                       const SamplePlace& place) const = 0;
};

/// One named field of a batch.
struct FieldSpec {
    std::string name;  ///< "image", "label", "tokens"
    FieldKind kind = FieldKind::other;
    DType dtype = DType::f32;      ///< f32, i64 or boolean; an image's bytes: u8
    Shape shape = {};              ///< of one sample
    std::int64_t cardinality = 0;  ///< i64: values lie in [0, cardinality); 0: any
    std::int64_t mask_token = -1;  ///< of tokens: the one for a masked word; -1: there is none
    Ragged ragged = Ragged::no;
    bool windowed = false;       ///< shape[0] is the length of the run's windows (bptt)
    bool own_crop = false;       ///< of an image: Dataset::read_augmented() crops and flips it
    bool by_batch = false;       ///< of an image: Dataset::canvas() gives a batch's height and
                                 ///< width; `shape` has the largest
    bool own_changes = false;    ///< of an image: the data set normalises it, and changes it at
                                 ///< random in read_augmented(), so that padding stays 0
    bool padded_pixels = false;  ///< of an image on a GPU: as convolutions read it (empty_batch)
    Normalization normalization = {};     ///< empty: none
    std::vector<std::string> names = {};  ///< of the classes, features or targets; may be empty
    Message problem = {};  ///< why no task can learn from it, as its files show; empty: any can
    std::vector<std::shared_ptr<const SampleTransform>> transforms = {};  ///< applied in order

    std::size_t sample_bytes() const {
        return static_cast<std::size_t>(shape.numel()) * size_of(dtype);
    }
};

/// The fields of a batch, in order. Data sets fill the first ones; a task may add more, which its
/// transforms fill.
struct Schema {
    std::vector<FieldSpec> fields;
    bool augmented = false;  ///< samples come from Dataset::read_augmented()

    /// Adds a field, and behind a ragged one its mask or offsets. Returns its index. Throws as
    /// check_ragged() does.
    std::size_t add(FieldSpec field);
    /// Throws Error(state) if there is no such field.
    std::size_t index(std::string_view name) const;
    const FieldSpec& operator[](std::string_view name) const { return fields[index(name)]; }
    /// The first field of this kind; null if there is none.
    const FieldSpec* find(FieldKind kind) const;
};

/// Throws Error(shape) for a ragged field without a capacity, or whose rows have no elements: their
/// bytes would not determine the offsets.
void check_ragged(const FieldSpec& field);

/// "image" (C, H, W) and "label", with the names of the classes.
Schema classified_images(const Shape& shape, Normalization normalization,
                         std::vector<std::string> classes);
/// "features" and "label", with the names of the classes.
Schema classified_features(Normalization normalization, std::vector<std::string> classes);

/// Shape of a field in a batch of `rows` samples: (rows, shape...), or as Ragged says.
Shape batch_shape(const FieldSpec& field, std::int64_t rows);

/// The memory of one sample in a batch. For windows of a stream the spans are as long as the
/// window.
class SampleFields {
public:
    /// Memory of one field.
    struct Place {
        std::byte* data = nullptr;
        std::size_t bytes = 0;      ///< of this sample; of a ragged field: its capacity
        std::int64_t rows = 0;      ///< filled rows of a ragged field
        std::size_t row_bytes = 0;  ///< of a ragged field
        bool pixel_bytes = false;   ///< an image is wanted as bytes (Dataset::gives_bytes)
        CanvasSize canvas = {};     ///< of an image that goes by the batch
    };

    explicit SampleFields(std::span<Place> places) : places_(places) {}

    std::span<float> f32(std::size_t field) const { return values<float>(field); }
    std::span<std::int64_t> i64(std::size_t field) const { return values<std::int64_t>(field); }
    std::span<std::uint8_t> bytes(std::size_t field) const { return values<std::uint8_t>(field); }
    bool wants_bytes(std::size_t field) const { return places_[field].pixel_bytes; }
    /// Height and width of an image field by the batch; zeros: those of its schema.
    CanvasSize canvas(std::size_t field) const { return places_[field].canvas; }
    /// An image of these bytes, in the form that is wanted. An empty field takes nothing.
    void set_image(std::size_t field, std::span<const std::uint8_t> pixels) const;
    /// How many rows of a ragged field were written; at most its capacity.
    void set_rows(std::size_t field, std::int64_t rows) const { places_[field].rows = rows; }
    std::int64_t rows(std::size_t field) const { return places_[field].rows; }

private:
    template <typename T>
    std::span<T> values(std::size_t field) const {
        const Place& place = places_[field];
        return {reinterpret_cast<T*>(place.data), place.bytes / sizeof(T)};
    }
    std::span<Place> places_;
};

}  // namespace engine
