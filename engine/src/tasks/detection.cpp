#include <algorithm>
#include <limits>

#include "data/detection/confusion.h"
#include "data/detection/detection_results.h"
#include "data/detection/detection_sample.h"
#include "data/detection/mask_paste.h"
#include "data/worker_pool.h"
#include "engine/base/error.h"
#include "kernels/parallel.h"
#include "tasks/detection_pass.h"
#include "tasks/task_descriptor.h"
#include "tensor/layout.h"
#include "tensor/philox.h"

namespace engine {
namespace {

constexpr std::size_t pictures_named = 24;  // of those with most errors

/// Fills a field with two words by the sample's place: the key of what is drawn for it. In
/// evaluation it is the same in every pass.
class DrawKey final : public SampleTransform {
public:
    explicit DrawKey(bool training) : training_(training) {}
    void apply(const SampleFields& sample, std::size_t field,
               const SamplePlace& place) const override {
        const auto epoch = training_ ? static_cast<std::uint32_t>(place.epoch) : 0;
        const RandomStream random(place.seed, StreamId::task, epoch);
        const std::uint64_t low = random.at(2 * place.position);
        const std::uint64_t high = random.at(2 * place.position + 1);
        sample.i64(field).front() = static_cast<std::int64_t>(high << 32 | low);
    }

private:
    bool training_;
};

FieldSpec draw_field(bool training) {
    return {.name = "draw",
            .dtype = DType::i64,
            .shape = {},
            .transforms = {std::make_shared<DrawKey>(training)}};
}

/// The detections of a pass, matched to the truths as they come.
class FoundObjects final : public PassResults {
public:
    FoundObjects(DataPart part, std::vector<std::string> classes, bool masks, int threads)
        : part_(std::move(part)), classes_(std::move(classes)), masks_(masks), pool_(threads) {}

    void see(const Batch& batch, const Tensor& predicted) override {
        const Tensor rows = in_layout(predicted, Layout::contiguous);
        const auto columns = static_cast<std::size_t>(rows.size(2));
        const auto each = static_cast<std::size_t>(rows.size(1)) * columns;
        const std::span all(rows.data_as<const float>(), static_cast<std::size_t>(rows.numel()));
        const auto sizes = batch.fields[detection_field::size].values<std::int64_t>();
        const std::size_t pictures = batch.indices.size();
        std::vector<PictureMatches> matches(pictures);
        std::vector<std::vector<Detection>> found(pictures);
        pool_.run(pictures, [&](std::size_t row, std::size_t) {
            const auto truth = part_.data->truth(batch.indices[row]);
            const PictureSizes size{static_cast<std::int32_t>(sizes[4 * row]),
                                    static_cast<std::int32_t>(sizes[4 * row + 1]), truth->height,
                                    truth->width};
            found[row] = place_detections(all.subspan(row * each, each), columns, size);
            matches[row] = match_picture(batch.indices[row], *truth, found[row], masks_);
        });
        report_.reset();
        for (std::size_t row = 0; row < pictures; ++row) {
            if (files_) files_->add(matches[row].image_id, found[row]);
            results_.add(std::move(matches[row]));
        }
    }

    std::vector<std::byte> packed() const override { return results_.packed(); }
    void merge(std::span<const std::byte> part) override {
        report_.reset();
        results_.merge(part);
    }

    void derive(std::span<double> values) override {
        constexpr std::size_t ap = 0, ap50 = 1, ap75 = 2;
        const auto& boxes = measured().boxes.values;
        if (masks_) {
            values[0] = measured().masks->values[ap];
            values[1] = boxes[ap];
            values[2] = boxes[ap50];
        } else {
            for (const std::size_t at : {ap, ap50, ap75}) values[at] = boxes[at];
        }
    }

    std::optional<DetectionReport> detections() override { return measured(); }

    void write_to(const std::filesystem::path& name) override {
        files_.emplace(name, part_.data->class_ids(), masks_);
    }
    std::vector<std::filesystem::path> commit() override {
        return files_ ? files_->commit() : std::vector<std::filesystem::path>();
    }

private:
    const DetectionReport& measured() {
        if (report_) return *report_;
        const std::span<const PictureMatches> pictures = results_.pictures();
        const auto count = static_cast<std::int32_t>(classes_.size());
        const OverlapKind kind = masks_ ? OverlapKind::mask : OverlapKind::box;
        DetectionReport out;
        out.classes = classes_;
        out.boxes = average_precision(pictures, OverlapKind::box, count);
        if (masks_) out.masks = average_precision(pictures, OverlapKind::mask, count);
        out.confusions = confusion_counts(pictures);
        out.best = best_f1(pictures, kind);
        out.errors = most_errors(pictures, kind, pictures_named);
        return report_.emplace(std::move(out));
    }

    DataPart part_;
    std::vector<std::string> classes_;
    bool masks_;
    WorkerPool pool_;
    DetectionResults results_;
    std::optional<ResultFiles> files_;
    std::optional<DetectionReport> report_;  // of all that was seen
};

/// The decisions of an earlier computation. They may come from a file: throws Error(value) for
/// others.
Proposals given_proposals(const TensorList& decisions, std::int64_t rows) {
    const auto fits = [&] {
        if (decisions.size() != 2) return false;
        const Tensor &boxes = decisions[0], &counts = decisions[1];
        if (boxes.dtype() != DType::f32 || boxes.rank() != 3 || boxes.size(0) != rows ||
            boxes.size(2) != 4 || counts.dtype() != DType::i64 || counts.shape() != Shape{rows})
            return false;
        return std::ranges::all_of(counts.values(), [&](double each) {
            return each >= 0 && each <= static_cast<double>(boxes.size(1));
        });
    };
    if (!fits()) throw Error(ErrorCode::value, msg("The proposals do not fit the batch."));
    return {decisions[0], decisions[1]};
}

/// Finds the objects of pictures: boxes with classes, and masks (He et al. 2017). The loss is the
/// sum of the region proposal network's two losses and those of the heads.
class ObjectDetection final : public DescribedTask {
public:
    explicit ObjectDetection(const TaskSetup& setup)
        : DescribedTask(setup),
          masks_(has_masks(setup.config)),
          geometry_(setup.config.teach.boxes),
          threads_(setup.config.threads > 0 ? static_cast<int>(setup.config.threads)
                                            : kernels::cpu::hardware_threads()) {
        if (masks_ && field(detection_field::bits).cardinality == 1)
            throw Error(ErrorCode::settings,
                        msg("model.options.masks: true: use false, since no object of the data has "
                            "a mask"));
        if (masks_ && !field(detection_field::bits).problem.empty())
            throw Error(ErrorCode::data, field(detection_field::bits).problem);
        draw_ = schemas_.training.add(draw_field(true));
        schemas_.evaluation.add(draw_field(false));
    }

    static bool has_masks(const RunConfig& config) {
        const auto model = model_descriptor(config.model);
        return TypedOptions(config.model.options, model->options).flag("masks");
    }

    ModelShape model_shape() const override {
        return {{field(detection_field::image)}, field(detection_field::labels).cardinality};
    }
    bool gives_to_model_alone(std::size_t field) const override {
        return field == detection_field::image;
    }

    TensorList losses(TaskStep& step) override {
        const DeviceBatch& batch = step.batch;
        const Scenes scenes{.images = batch[detection_field::image],
                            .sizes = batch[detection_field::size],
                            .boxes = batch[detection_field::boxes],
                            .labels = batch[detection_field::labels],
                            .places = batch[detection_field::places],
                            .bits = batch[detection_field::bits],
                            .draws = batch[draw_]};
        std::optional<Proposals> given;
        if (!step.decisions.empty()) given = given_proposals(step.decisions, batch.rows);
        const DetectionPass pass = detect(step, scenes, given ? &*given : nullptr, geometry_);
        if (step.training())
            step.decisions = {pass.proposals.boxes, pass.proposals.counts};
        else
            step.predicted = pass.found;
        add_loss(step, pass.total, batch.rows);
        int at = 0;
        for (const Tensor* part : {&pass.classifier, &pass.box_reg, &pass.mask, &pass.objectness,
                                   &pass.rpn_box_reg}) {
            if (part->defined()) add_mean(step, at++, *part, batch.rows);
        }
        return {pass.total};
    }

    /// The first three metrics come from FoundObjects.
    void derive(const MetricSums& sums, std::span<double> values) const override {
        const std::size_t losses = metrics_.size() - precisions;
        for (std::size_t i = 0; i < precisions; ++i)
            values[i] = std::numeric_limits<double>::quiet_NaN();
        for (std::size_t i = 0; i < losses; ++i)
            values[precisions + i] = sums.values[i] / sums.weight;
    }
    std::unique_ptr<PassResults> results(const DataPart& part) const override {
        return std::make_unique<FoundObjects>(part, field(detection_field::labels).names, masks_,
                                              threads_);
    }
    bool decides() const override { return true; }
    /// Pictures of different sizes would be padded to one canvas.
    std::int64_t evaluation_batch() const override {
        return field(detection_field::image).by_batch ? 1 : 8;
    }

private:
    static constexpr std::size_t precisions = 3;

    bool masks_;
    TeachBoxes geometry_;
    int threads_;
    std::size_t draw_ = 0;
};

bool fits_detection(const Schema& data, const ModelDescriptor& model) {
    return data.find(FieldKind::boxes) != nullptr && model.output == ModelOutput::detections;
}

std::vector<Metric> all_metrics() {
    const auto precision = [](const char* key, const char* title) {
        return Metric{.key = key, .title = title, .is_share = true};
    };
    const auto loss = [](const char* key, const char* title) {
        return Metric{.key = key, .title = title, .higher_is_better = false};
    };
    return {precision("mask_map", "Mask AP"),
            precision("box_map", "Box AP"),
            precision("box_map50", "Box AP50"),
            precision("box_map75", "Box AP75"),
            loss("loss_classifier", "Class loss"),
            loss("loss_box_reg", "Box loss"),
            loss("loss_mask", "Mask loss"),
            loss("loss_objectness", "Objectness loss"),
            loss("loss_rpn_box_reg", "Proposal box loss")};
}

std::vector<Metric> metrics_of_run(const RunConfig& config) {
    std::vector<Metric> out = all_metrics();
    const bool masks = ObjectDetection::has_masks(config);
    std::erase_if(out, [&](const Metric& each) {
        return masks ? each.key == "box_map75"
                     : each.key == "mask_map" || each.key == "loss_mask";
    });
    return out;
}

}  // namespace

TaskDescriptor detection_descriptor() {
    return {.kind = "detection",
            .title = "Object detection",
            .summary = "Finds the objects of a picture: boxes, classes and masks.",
            .metrics = all_metrics(),
            .metrics_by_settings = metrics_of_run,
            .fits = fits_detection,
            .make = new_task<ObjectDetection>};
}

}  // namespace engine
