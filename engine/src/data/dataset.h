#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "data/schema.h"
#include "engine/base/error.h"
#include "engine/settings/run_config.h"

namespace engine {

struct DatasetPreview;
struct DetectionTruth;  // data/detection/detection_truth.h
struct InputGuide;
class ReadFiles;

/// A sample whose file is there and cannot be decoded, as only decoding shows.
class DamagedSample final : public Error {
public:
    using Error::Error;
};

/// Samples in memory, or made on demand. Immutable: every member may be called from any thread at
/// any time. Its files are not needed after opening, unless it decodes.
class Dataset {
public:
    virtual ~Dataset() = default;

    /// Samples: images, rows, or the tokens of a text.
    virtual std::int64_t size() const = 0;
    /// Schema of the fields that read() fills, without transforms.
    virtual const Schema& schema() const = 0;
    /// Writes sample `index` in [0, size()) to `out`, except fields whose span is empty. For a
    /// stream: the window that begins at token `index`, as long as the spans. Throws Error(data).
    virtual void read(std::int64_t index, const SampleFields& out) const = 0;
    /// The sample at a place of a training run, if the data set itself augments it: a random crop
    /// of a picture needs more than the sample's fields. Depends only on index and place.
    virtual void read_augmented(std::int64_t index, const SampleFields& out,
                                const SamplePlace& place) const {
        (void)place;
        read(index, out);
    }
    /// Size of the images of a batch of these samples, where a field goes by the batch
    /// (FieldSpec::by_batch): each sample fits. `first`: place of the first sample in training,
    /// whose random sizes count; the others stand behind it. Null: as read() makes them.
    virtual CanvasSize canvas(std::span<const std::int64_t> indices,
                              const SamplePlace* first) const {
        (void)indices, (void)first;
        return {};
    }
    /// Pictures of one group have much the same shape: training puts them into one batch, whose
    /// canvas then has little padding. At most 255; all 0: the batches are those of the shuffle.
    virtual std::uint8_t shape_group(std::int64_t index) const {
        (void)index;
        return 0;
    }
    /// The objects in the picture of a sample as its files have them, for metrics; null for data
    /// without boxes.
    virtual std::shared_ptr<const DetectionTruth> truth(std::int64_t index) const {
        (void)index;
        return nullptr;
    }
    /// The number that its files give to each class, of label 1, 2, ... of data with boxes; empty:
    /// the label itself.
    virtual std::vector<std::int64_t> class_ids() const { return {}; }
    /// Each read decodes a file, about a millisecond of work: several threads pay.
    virtual bool decodes() const { return false; }
    /// Whether the next sample of the order takes the place of one whose read throws DamagedSample.
    virtual bool skips_damaged() const { return false; }
    /// Adds what a preview shows beside counts and pictures: columns, a passage.
    virtual void describe(DatasetPreview& preview) const { (void)preview; }
    /// Says how to encode a hand-made input like the samples, beside the schema: vocabulary,
    /// columns.
    virtual void guide(InputGuide& guide) const { (void)guide; }
    /// A text, read as contiguous streams instead of in shuffled order.
    virtual bool is_stream() const { return false; }
    /// Its images are bytes, and read() and read_augmented() write them so where that is wanted.
    virtual bool gives_bytes() const { return false; }
};

/// A part of a data set: all of its samples, or some.
struct DataPart {
    std::shared_ptr<const Dataset> data;                      ///< null: there is no such part
    std::shared_ptr<const std::vector<std::int64_t>> rows{};  ///< samples of it; null: all

    std::int64_t size() const {
        if (!data) return 0;
        return rows ? static_cast<std::int64_t>(rows->size()) : data->size();
    }
    /// Sample of the data set that is sample `index` of the part.
    std::int64_t sample(std::int64_t index) const {
        return rows ? (*rows)[static_cast<std::size_t>(index)] : index;
    }
};

struct DataParts {
    DataPart train, validation, test;
    /// Notes on the data for the user: rows that were left out, a column that never changes.
    std::vector<Message> warnings{};
    std::shared_ptr<ReadFiles> files{};  ///< that it was read from (data/data_fingerprint.h)
};

/// Opens or makes the data set of `config`, which must have passed validate(). Generated kinds use
/// `seed`, and so does splitting off parts. Reading files may take seconds. A data set that is
/// still in use is shared instead of being read twice, so the runs of a comparison share one copy.
/// Throws Error(data) with the file's name for data that are missing, damaged or of another kind,
/// and ReadingStopped (data/byte_reader.h) soon after `stop` was requested.
DataParts open_dataset(const DatasetConfig& config, std::int64_t seed,
                       const std::stop_token& stop = {});

/// A text that has changed since a run read it, as that run reads it: its tokens get the ids of
/// this vocabulary, and those that it lacks become <unk>. Throws Error(data) if it has no <unk>.
DataParts open_dataset_as(const std::vector<std::string>& vocabulary, const DatasetConfig& config,
                          std::int64_t seed, const std::stop_token& stop = {});

/// Splits round(share * size) samples of the training part off as the validation part, drawn by the
/// seed. Not for a stream, which is split when it is opened. Throws Error(settings) if either part
/// would be empty.
void split_validation(DataParts& parts, double share, std::int64_t seed);

/// The schema with the transforms that the settings ask for: normalisation of images, features and
/// values, and in training crop and flip, colour jitter and cutout.
Schema with_transforms(const Schema& schema, const DatasetConfig& config, bool training);

}  // namespace engine
